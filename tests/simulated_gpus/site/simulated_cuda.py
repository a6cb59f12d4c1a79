"""GPUs for this process: the devices of device.cpp, and notes of how they are used.

torch.cuda is torch's own; the functions of torch._C that it calls are in simulated_torch_c.py.
"""

import atexit
import ctypes
import json
import os
import runpy
import sys
import time
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from pathlib import Path

CUDA_VERSION = "12.8"  # as reported; none is installed
MIB = 2**20
TOTAL = 8192 * MIB  # bytes of memory of each GPU
ROOT = Path(__file__).resolve().parents[3]
NOTES = os.environ.get("SIMULATED_GPUS_NOTES", "")  # a folder with a file for each process

notes = []  # of this process: a kind, what happened, and the lines that caused it
device = None  # the functions of device.cpp, once torch is imported

_Tell = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)


def install():
    """Make torch find GPUs when it is imported, and the lab a build of torch for them."""
    sys.meta_path.insert(0, _Finder())
    run_path = runpy.run_path

    def with_cuda(path, *args, **kwargs):
        found = run_path(path, *args, **kwargs)
        return found | {"cuda": CUDA_VERSION} if path.endswith("torch/version.py") else found

    runpy.run_path = with_cuda  # lab/machine/torch_build.py reads it with this


class _Finder(MetaPathFinder):
    """Prepares imports that other finders make, and sets constants of modules."""

    def __init__(self):
        self._constants = json.loads(os.environ.get("SIMULATED_GPUS_CONSTANTS", "{}"))
        self._prepare = {
            "torch": _load,
            "torch.cuda": _add_cuda,
            "torch.distributed.distributed_c10d": _add_nccl,
        }

    def find_spec(self, name, path=None, target=None):
        """Prepare the first import of a module; find only modules whose constants are replaced."""
        if constants := self._constants.get(name):
            return _with_constants(PathFinder.find_spec(name, path), constants)
        if name in self._prepare and _is_import():
            self._prepare.pop(name)()
        return None


def _is_import():
    """Return whether a module is imported, not just looked up (`importlib.util.find_spec`)."""
    frame = sys._getframe(2)
    while frame and "importlib" in frame.f_code.co_filename:
        if frame.f_code.co_name == "_find_and_load":
            return True
        frame = frame.f_back
    return False


def _with_constants(spec, constants):
    """Return the module's spec, whose import ends by replacing constants."""
    execute = spec.loader.exec_module

    def exec_module(module):
        execute(module)
        if unknown := constants.keys() - vars(module).keys():
            raise AttributeError(f"{module.__name__} has no {', '.join(unknown)}")
        vars(module).update(constants)

    spec.loader.exec_module = exec_module
    return spec


def _load():
    """Load the devices, before torch's own libraries look for CUDA."""
    global device
    device = ctypes.CDLL(os.environ["SIMULATED_GPUS_LIBRARY"], mode=ctypes.RTLD_GLOBAL)
    number, text = ctypes.c_int64, ctypes.c_char_p
    for name, result, arguments in (
        ("simulate", None, [ctypes.c_int, number, _Tell]),
        ("set_device", text, [ctypes.c_int]),
        ("get_stream", number, [ctypes.c_int]),
        ("set_stream", None, [ctypes.c_int, number]),
        ("is_capturing", ctypes.c_bool, []),
        ("pending_tasks", number, []),
        ("host_waited", number, []),
        ("used_bytes", number, [ctypes.c_int]),
        ("peak_bytes", number, [ctypes.c_int]),
        ("resize_storage", text, [ctypes.c_void_p, number]),
        ("new_pool", number, []),
        ("new_graph", number, []),
        ("begin_capture", text, [number, number]),
        ("end_capture", text, []),
        ("replay_graph", text, [number]),
        ("free_graph", None, [number]),
    ):
        function = getattr(device, name)
        function.restype, function.argtypes = result, arguments
    _load.tell = _Tell(_tell)  # kept as long as the library lives
    device.simulate(gpus(), memory(), _load.tell)
    atexit.register(device.end)  # notes are no longer possible then


def _add_cuda():
    import simulated_torch_c

    simulated_torch_c.add_cuda()
    if NOTES:
        _watch_the_clock()


def _add_nccl():
    import simulated_torch_c

    simulated_torch_c.add_nccl()


def gpus():
    """Return the number of GPUs that this process may use."""
    there, visible = int(os.environ["SIMULATED_GPUS"]), os.environ.get("CUDA_VISIBLE_DEVICES")
    return there if visible is None else min(there, len(list(filter(None, visible.split(",")))))


def memory():
    """Return the bytes of each GPU that other processes have left free."""
    return int(float(os.environ["SIMULATED_GPUS_MIB"]) * MIB)


# --- notes


def _tell(kind, what):
    _note(kind.decode(), what.decode())


def _note(kind, what):
    """Write down what happened, and which lines of the project caused it."""
    if not NOTES:
        return
    frame, stack = sys._getframe(1), []
    while frame:
        path = frame.f_code.co_filename
        if path.startswith(f"{ROOT}/") and not path.startswith(f"{ROOT}/tests/simulated_gpus/site"):
            name = path.removeprefix(f"{ROOT}/")
            stack.append(f"{name}:{frame.f_lineno} {frame.f_code.co_qualname}")
        frame = frame.f_back
    notes.append((kind, what, stack))
    with Path(NOTES, f"{os.getpid()}.jsonl").open("a") as file:
        file.write(json.dumps({"kind": kind, "what": what, "stack": stack}) + "\n")


def _watch_the_clock():
    """Note each reading of the clock while a GPU may still be busy."""
    read = time.perf_counter

    def perf_counter():
        if pending := device.pending_tasks():
            _note("clock", f"{pending} task" + "s" * (pending > 1))
        return read()

    time.perf_counter = perf_counter


def host_waits():
    """Return how often this process has waited for a GPU."""
    return device.host_waited()


def copies(source, target):
    """Return the number of copies from one GPU to another."""
    return device.copies(source, target)


def forget_first_calls():
    """Make each device's next use, and each kernel's next call, count as the first."""
    device.forget_first_calls()
