"""The functions of torch._C in a build for GPUs that the project reaches, under torch's names."""

import ctypes
import os
from pathlib import Path
from types import SimpleNamespace

import torch
import torch._C as C
from simulated_cuda import CUDA_VERSION, MIB, TOTAL, device, gpus, memory

SM = (8, 0)  # the first GPUs with bfloat16 and TF32

_used = False  # by this process, or by the one that forked it
_forked = False


def add_cuda():
    """Add these functions to torch._C, before torch.cuda is imported."""
    import torch.version

    torch.version.cuda = CUDA_VERSION
    C._has_cuda = True
    C._CudaDeviceProperties = SimpleNamespace
    for name, value in globals().items():
        if callable(value) and name.startswith("_") and not name.startswith("__"):
            setattr(C, name, value)
    os.register_at_fork(after_in_child=begin_anew)


def add_nccl():
    """Make NCCL's groups gloo's, to which device.cpp hands the same memory."""
    from torch._C import _distributed_c10d as c10d

    class ProcessGroupNCCL(c10d.ProcessGroupGloo):
        class Options:
            is_high_priority_stream = False
            group_name = ""

        def __init__(self, store, rank, size, options):
            super().__init__(store, rank, size, options._timeout)

    c10d.ProcessGroupNCCL = ProcessGroupNCCL


def begin_anew():
    """In the child of a process that used a GPU, make torch initialize CUDA, which it refuses."""
    global _forked
    if not _used:
        return
    _forked = True
    library = ctypes.CDLL(f"{Path(torch.__file__).parent}/lib/libtorch_python.so")
    # torch::utils::set_requires_device_init(c10::DeviceType, bool)
    library._ZN5torch5utils24set_requires_device_initEN3c1010DeviceTypeEb(1, True)


def checked(error):
    """Raise the error that device.cpp answers, if any."""
    if error is not None:
        raise RuntimeError(error.decode())


def clone(storage):
    """Return a copy of a storage: torch's own method uses a constructor without CUDA here."""
    as_bytes = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    return as_bytes.clone().untyped_storage()


def resize(storage, size, of_cpu=C.StorageBase.resize_):
    """Resize a storage, which torch's own method cannot do on a GPU here."""
    if storage.device.type != "cuda":
        return of_cpu(storage, size)
    checked(device.resize_storage(storage._cdata, size))
    return storage


# --- devices


def _cuda_init():
    global _used
    _used = True
    torch.UntypedStorage.clone, torch.UntypedStorage.resize_ = clone, resize
    torch.cuda._get_device_properties = properties
    torch.cuda.default_generators = tuple(torch.Generator(f"cuda:{i}") for i in range(gpus()))


def _cuda_isInBadFork():
    return _forked


def _cuda_getDeviceCount():
    return gpus()


def _cuda_getDevice():
    return device.get_device()


def _cuda_setDevice(index):
    if index >= 0:
        checked(device.set_device(index))


def _cuda_exchangeDevice(index):
    before = device.get_device()
    _cuda_setDevice(index)
    return before


_cuda_maybeExchangeDevice = _cuda_exchangeDevice


def _cuda_synchronize():
    C._accelerator_synchronizeDevice(device.get_device())


def _cuda_sleep(cycles):
    device.use(device.get_device())


def _cuda_getArchFlags():
    return "sm_{}{}".format(*SM)


def _cuda_canDeviceAccessPeer(index, peer):
    return True


def properties(index):
    major, minor = SM
    return SimpleNamespace(
        name="Simulated GPU",
        total_memory=TOTAL,
        major=major,
        minor=minor,
        multi_processor_count=8,
        L2_cache_size=MIB,
        is_integrated=False,
        is_multi_gpu_board=False,
        warp_size=32,
        uuid=f"simulated-{index}",
    )


class _cudart:
    class cudaError:
        success = 0

    @staticmethod
    def cudaGetErrorString(code):
        return str(code)

    @staticmethod
    def cudaMemGetInfo(index):
        return memory() - device.used_bytes(index), TOTAL


# --- memory


def _cuda_memoryStats(index):
    used, peak = device.used_bytes(index), device.peak_bytes(index)
    return {"allocated_bytes": {"all": {"current": used, "peak": peak}}}


def _cuda_resetPeakMemoryStats(index):
    device.reset_peak(index)


def _cuda_emptyCache():
    pass


_host_emptyCache = _cuda_ipc_collect = _cuda_emptyCache


# --- streams, events and graphs


def _cuda_getCurrentStream(index):
    return device.get_stream(index), index, 1


def _cuda_getCurrentRawStream(index):
    return device.get_stream(index)


def _cuda_getDefaultStream(index):
    return 0, index, 1


def _cuda_setStream(stream_id, device_index, device_type):
    checked(device.set_device(device_index))
    device.set_stream(device_index, stream_id)


def _cuda_isCurrentStreamCapturing():
    return device.is_capturing()


class _CudaStreamBase(C.Stream):
    def __new__(cls, priority=0, stream_id=0, device_index=0, device_type=0, stream_ptr=0):
        if device_type:
            given = {"device_index": device_index, "device_type": device_type}
            return super().__new__(cls, stream_id=stream_id, **given)
        return super().__new__(cls, f"cuda:{device.get_device()}", priority=priority)

    @property
    def cuda_stream(self):
        return self.stream_id


class _CudaEventBase:
    def __new__(cls, enable_timing=False, blocking=False, interprocess=False, external=False):
        made = super().__new__(cls)
        # torch's Event measures no time to an event of a subclass
        made._event = C.Event("cuda", enable_timing=enable_timing)
        return made

    def record(self, stream):
        self._event.record(stream)

    def wait(self, stream):
        self._event.wait(stream)

    def query(self):
        return self._event.query()

    def synchronize(self):
        self._event.synchronize()

    def elapsed_time(self, end):
        return self._event.elapsed_time(end._event)


def _graph_pool_handle():
    return (0, device.new_pool())


class _CUDAGraph:
    def __new__(cls, keep_graph=False):
        made = super().__new__(cls)
        made._id = device.new_graph()
        return made

    def capture_begin(self, pool=None, capture_error_mode="global"):
        self._pool = pool or _graph_pool_handle()
        checked(device.begin_capture(self._id, self._pool[1]))

    def capture_end(self):
        checked(device.end_capture())

    def replay(self):
        checked(device.replay_graph(self._id))

    def reset(self):
        device.free_graph(self._id)

    def pool(self):
        return self._pool


# --- between devices


def _nccl_version():
    return (2 << 32) | (27 << 16)


def _nccl_version_suffix():
    return b""


def _nccl_reduce(inputs, output, root, op, streams, comms):
    assert len({tensor.device for tensor in inputs}) == len(inputs), "a GPU takes part once"
    total = inputs[0].clone()
    for other in inputs[1:]:
        total.add_(other.to(total.device))
    output.copy_(total)


def _nccl_all_reduce(inputs, outputs, op, streams, comms):
    _nccl_reduce(inputs, outputs[0], 0, op, streams, comms)
    for output in outputs[1:]:
        output.copy_(outputs[0])


def _broadcast_coalesced(tensors, devices, buffer_size):
    def copies(i):
        return [t if t.get_device() == i else t.to(torch.device("cuda", i)) for t in tensors]

    return [copies(i) for i in devices]


def _scatter(tensor, devices, chunk_sizes, dim, streams):
    parts = tensor.split(chunk_sizes, dim) if chunk_sizes else tensor.chunk(len(devices), dim)
    return tuple(part.to(torch.device("cuda", i)) for part, i in zip(parts, devices, strict=False))


def _gather(tensors, dim, destination):
    target = torch.device("cpu") if destination == -1 else torch.device("cuda", destination)
    return torch.cat([tensor.to(target) for tensor in tensors], dim)
