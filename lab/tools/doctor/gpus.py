"""The GPUs: what their driver says of them, and whether torch computes and copies on them."""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from lab.machine.answers import ask
from lab.machine.gpus.driver import NoAnswerError, query
from lab.results.disturbances import LIMIT_PERCENT
from lab.tools.doctor.finding import Finding, fail, note, ok, some, warn

DRIVER = Path("/proc/driver/nvidia/version")
QUERY_S = 60  # a driver that nothing keeps loaded takes seconds for each GPU
TRIAL_S = 300
TRIAL = (sys.executable, "-m", "lab.tools.doctor.gpu_trial")
FIELDS = (
    *("index", "name", "driver_version", "compute_mode", "mig.mode.current", "utilization.gpu"),
    *("memory.used", "memory.total", "power.limit", "power.default_limit"),
)
REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")  # since 535, and before
SLOWED = {  # bits of NVML's reasons that tell of more than a setting or of nothing to do
    0x04: "the limit of its power",
    0x08: "the board, to half at most",
    0x20: "its heat",
    0x40: "its heat, to half at most",
    0x80: "the power supply, to half at most",
}
SET_BY_HAND = 0x02
MOST_OF_OTHERS = 0.1  # of a GPU's memory
RESTART = ("version mismatch", "is lost")  # nvidia-smi's words where nothing else helps
BROKEN = ("[GPU requires reset]", "[GPU is lost]")  # and in place of a value


def has_driver() -> bool:
    """Whether there is an NVIDIA driver, or a part of one."""
    return shutil.which("nvidia-smi") is not None or DRIVER.exists()


def gpus() -> Iterator[Finding]:
    """The driver answers, and leaves the GPUs to the lab: free, whole and unhindered."""
    if not has_driver() or os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return
    try:
        found = [
            dict(zip(FIELDS, values, strict=True)) for values in query(*FIELDS, seconds=QUERY_S)
        ]
    except NoAnswerError as error:
        yield _no_answer(str(error))
        return
    remarks = list(chain.from_iterable(map(_state, found)))
    yield from remarks
    yield from _clocks()
    names = some(list(dict.fromkeys(gpu["name"] for gpu in found)))
    if found and all(remark.level == "note" for remark in remarks):
        yield ok(f"{len(found)} GPU(s), {names}, driver {found[0]['driver_version']}")


def _no_answer(why: str) -> Finding:
    if "does not end" in why:
        return fail(f"nvidia-smi {why}: the driver hangs, and so would a run", "sudo reboot")
    restart = any(words in why for words in RESTART)
    return warn(f"nvidia-smi {why}", "sudo reboot" if restart else "nvidia-smi")


def _state(gpu: dict[str, str]) -> Iterator[Finding]:
    """What of a GPU's state keeps the lab from using it, or would show in its times."""
    name = f"GPU {gpu['index']}"
    if broken := next((value for value in gpu.values() if value in BROKEN), ""):
        yield fail(
            f"{name} does not work: {broken}", f"sudo nvidia-smi -i {gpu['index']} --gpu-reset"
        )
    mode = gpu["compute_mode"]
    if mode.startswith(("Exclusive", "Prohibited")):
        yield fail(
            f"{name} is in mode {mode}, and the lab uses a GPU from several processes at once",
            f"sudo nvidia-smi -i {gpu['index']} -c DEFAULT",
        )
    used, total = _number(gpu["memory.used"]), _number(gpu["memory.total"])
    busy = _number(gpu["utilization.gpu"])
    if 0 < MOST_OF_OTHERS * total < used or busy > LIMIT_PERCENT:
        yield warn(
            f"{name}: others have {used / 1024:.1f} of {total / 1024:.1f} GiB of its memory and"
            f" {busy:.0f} % of its time: runs may not fit, and times decide nothing",
            "nvidia-smi",
        )
    if gpu["mig.mode.current"] == "Enabled":
        yield note(f"{name} is cut into parts (MIG), of which a process has one")
    limit, usual = _number(gpu["power.limit"]), _number(gpu["power.default_limit"])
    if 0 < limit < usual:
        yield note(
            f"{name} may take {limit:.0f} W instead of {usual:.0f}: it is slower than others of its"
            " kind",
            f"sudo nvidia-smi -i {gpu['index']} -pl {usual:.0f}",
        )


def _number(text: str) -> float:
    """What nvidia-smi says, or 0 for what it does not know: [N/A], [Unknown Error], ..."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def _clocks() -> Iterator[Finding]:
    """What holds clocks down at this moment, under whichever name the driver knows the question."""
    for field in REASONS:
        try:
            active = query("index", field, seconds=QUERY_S)
        except NoAnswerError:
            continue
        yield from chain.from_iterable(_held_down(gpu, reasons) for gpu, reasons in active)
        return


def _held_down(gpu: str, reasons: str) -> Iterator[Finding]:
    try:
        bits = int(reasons, 16)
    except ValueError:
        return
    if by := [what for bit, what in SLOWED.items() if bits & bit]:
        yield warn(
            f"GPU {gpu}'s clocks are held down by {', '.join(by)}: times tell of that",
            f"nvidia-smi -i {gpu} -q -d PERFORMANCE,TEMPERATURE,POWER",
        )
    elif bits & SET_BY_HAND:
        yield note(f"GPU {gpu}'s clocks were set by hand", f"sudo nvidia-smi -i {gpu} -rac")


def computing_and_copying() -> Iterator[Finding]:
    """Each GPU computes, and what is copied to another arrives, in a process of its own."""
    if not has_driver():
        return
    answer = ask(TRIAL, TRIAL_S)
    steps = [json.loads(line) for line in answer.stdout.splitlines() if line.startswith("{")]
    failures = [step for step in steps if "failure" in step]
    yield from (fail(step["failure"], exit_code=step["exit_code"]) for step in failures)
    wrong = [step for step in steps if step.get("wrong")]
    if wrong:
        yield _wrong([f"{step['source']} to {step['target']}" for step in wrong])
    if answer.problem:
        doing = next((step["doing"] for step in reversed(steps) if "doing" in step), "its start")
        why = f": {answer.last_word()}" if answer.stderr.strip() else ""
        yield fail(
            f"the trial of the GPUs {answer.problem}, at {doing}{why}", "sudo dmesg | tail -50"
        )
    elif steps and not failures and not wrong:
        tried = sum("compute" in step for step in steps)
        copied = ", and copy to each other without a wrong byte" if tried > 1 else ""
        yield ok(f"{tried} GPU(s) compute{copied}")


def _wrong(pairs: Sequence[str]) -> Finding:
    return fail(
        f"what is copied from {some(list(pairs))} arrives changed: what trains on several would be"
        " wrong; see PCIe's ACS and the IOMMU in the BIOS, or use one GPU",
        "export CUDA_VISIBLE_DEVICES=0",
    )


CHECKS = (gpus, computing_and_copying)
