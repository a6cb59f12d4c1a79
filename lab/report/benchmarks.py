"""Sentences that the benchmarks' pages share: devices, noise, and how far to trust the times."""

from collections.abc import Mapping
from typing import Any

from lab.report.language import ENGLISH, language, say
from lab.report.reason_words import all_in_words, in_words
from lab.results.disturbances import BUSY_PERCENT, LIMIT_PERCENT, NOT_MEASURABLE, disturbances_of
from lab.results.reasons import Reason
from lab.results.stats import false_speedup_bound

MOST_NOISE = 50  # percent of the timings; above, a reader should measure again
MOST_DOUBT = 0.2  # a weaker bound on false speed-ups says nothing to a reader
TITLES = {"lenet": "LeNet", "resnet18": "ResNet-18"}  # of nets, by their names in lab.nets.models


def net_title(net: str) -> str:
    """Return a net's name (of lab.nets.models) in the current language."""
    others = {
        "lenet_he": say("LeNet, He initialization"),
        "mlp": say("MLP"),
        "convnet": say("ConvNet"),
        "convnet_deep": say("deeper ConvNet"),
    }
    return others.get(net) or TITLES[net]


def undecided(m: Mapping[str, Any], stage: str) -> str:
    """Return a sentence on why a stage's times decide nothing; "" without a reason."""
    if lack := m.get(NOT_MEASURABLE):
        return say("Not measurable here: {lack}.", lack=in_words(Reason.of(lack), stage))
    if found := disturbances_of(m):
        return say(
            "These times decide nothing: {reasons}. On a quiet machine, `invoke remeasure --stage"
            " {stage}` measures again.",
            reasons=all_in_words(found),
            stage=stage,
        )
    return ""


def devices_in_words(device_kind: str) -> str:
    return {
        "cpu": say("the processor"),
        "cpu-virtual": say("shares of the CPU"),
        "cuda": say("CUDA GPUs"),
        "cuda-shared": say("replicas sharing a GPU"),
    }.get(device_kind, say("an unknown device"))


def on_virtual_devices(m: Mapping[str, Any]) -> bool:
    """Return whether CPU shares stood in for several devices; a single one is just a CPU."""
    return bool(m["device_kind"] == "cpu-virtual" and m["num_devices"] > 1)


def trust(m: Mapping[str, Any], stage: str) -> list[str]:
    """Return sentences on a stage's devices, noise and controls; none if it is not a benchmark."""
    if "controls" not in m:
        return []
    sentences = [
        say(
            "Measured in {starts} fresh processes on {devices}.",
            starts=m["starts"],
            devices=_devices_of(m),
        ),
        say(
            "{noisy:.0f}% of the timings vary by more than a tenth from process to process, which"
            " the intervals include.",
            noisy=m["noisy_percent"],
        ),
    ]
    if m["noisy_percent"] > MOST_NOISE:
        sentences.append(
            say(
                "That is a lot: on an idle machine, `invoke remeasure --stage {stage}` narrows the"
                " intervals.",
                stage=stage,
            )
        )
    if m["controls"]:
        sentences.append(control_in_words(m))
    if m[BUSY_PERCENT] > LIMIT_PERCENT / 2:
        sentences.append(
            say("Other programs took {busy:.0f}% of the cores meanwhile.", busy=m[BUSY_PERCENT])
        )
    return sentences


def _devices_of(m: Mapping[str, Any]) -> str:
    """Return the number and kind of devices; for a processor its threads."""
    kind, n, threads = str(m["device_kind"]), m["num_devices"], m["threads_per_device"]
    if on_virtual_devices(m):
        return say(
            "virtual devices on the CPU ({n}, threads of each: {threads})", n=n, threads=threads
        )
    if kind in ("cpu", "cpu-virtual"):
        return (
            say("one CPU thread")
            if threads == 1
            else say("the processor (threads: {threads})", threads=threads)
        )
    return say("{devices} ({n})", devices=devices_in_words(kind), n=n)


def control_in_words(m: Mapping[str, Any]) -> str:
    """Return sentences on the noise controls and the bound on false speed-ups that they give."""
    bound = false_speedup_bound(
        m["control_over"], m["control_under"], m["control_starts"], m["starts"]
    )
    raced = say(
        "Variants raced against themselves ({controls}) gave {false} false speed-ups.",
        controls=m["controls"],
        false=m["false_speedups"],
    )
    if bound > MOST_DOUBT:
        return raced
    follows = say(
        "By all their ratios, the chance of a false speed-up is at most {bound:.2g}%.",
        bound=100 * bound,
    )
    return f"{raced} {follows}" if language() == ENGLISH else f"{raced}{follows}"
