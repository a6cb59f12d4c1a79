"""Reasons in words: why there is no number, or why it decides nothing."""

from collections.abc import Iterable

from lab.claims.verdicts import Judgement
from lab.report.language import localized, say, translation
from lab.results import reasons
from lab.results.reasons import Reason, split

WORDS = {  # in English, by code
    reasons.SKIPPED: "left out here: {about}",
    reasons.NOT_MEASURED: "not measured: {about}; `dvc repro {stage}` measures it",
    reasons.BROKEN: "{about} cannot be: the measurement is broken;"
    " `invoke remeasure --stage {stage}` measures again",
    reasons.UNUSABLE: "unusable samples: {about}",
    reasons.LAUNCH_BOUND: "hardly longer than its launch; raise {about}",
    reasons.NO_RACE: "without an event the result was right, too: there was no race",
    reasons.NOT_LONGER: "the second job was not the longer; raise {about}",
    reasons.TARGET_MISSED: "{about} runs that should need fewer epochs missed the target;"
    " raise max_epochs",
    reasons.GUESSES: "trained too little: it still guesses",
    reasons.NEEDS: "needs {about}",
    reasons.NEEDS_GPU: "needs a GPU",
    reasons.NEEDS_GPUS: "needs {about} GPUs",
    reasons.NEEDS_TWO_GPUS_OR_NONE: "needs two GPUs, or none",
    reasons.NEEDS_CORES: "needs {about} cores",
    reasons.NEEDS_LARGER_SIZES: "needs larger sizes on this GPU",
    reasons.NEEDS_BF16: "needs instructions for bfloat16",
    reasons.NEEDS_LIGHTNING: "needs PyTorch Lightning: pip install -e '.[peers]'",
    reasons.NEEDS_PROCESSOR: "needs a network on the processor, under Linux",
    reasons.NEEDS_CONVOLUTION: "needs a convolution",
    reasons.NEEDS_FUSED: "needs an optimizer that has a fused form",
    reasons.NEEDS_LOADER: "needs make_loader to give a DataLoader of tensors",
    reasons.NEEDS_SAME_DATA: "needs data that are the same in each epoch",
    reasons.NEEDS_ROOM: "needs {about} GiB of memory to spare",
    reasons.ALREADY: "in your file already",
    reasons.NO_TORCHSCRIPT: "torch {about} has no TorchScript",
    reasons.FAILED: "does not work here ({about})",
    reasons.NO_TIME: "not compiled within the time that was left",
    reasons.DISTURBED: "{about}; `invoke remeasure --stage {stage}` measures again",
    reasons.BUSY: "the machine was busy ({about})",
    reasons.SLEPT: "the machine slept ({about})",
    reasons.THROTTLED: "the CPU quota held it back ({about})",
    reasons.GPU_BUSY: "others computed on the GPU ({about})",
    reasons.DRIFTED: "the machine's speed changed ({about})",
    reasons.FOREIGN: "measured on an unknown device: {about}",
    reasons.NOT_SEEN: "not seen here, which does not refute that it may be",
    reasons.TOO_FEW: "too few samples to decide: {about}",
}

SWITCHES = {  # what is left out if the key of params.yaml is false
    "bench_compile.compilers": "what a compiler builds",
    "own_network.compile": "what torch.compile builds of the network",
    "bench_training.peers": "slower loops, such as a plain one and PyTorch Lightning's",
}


def in_words(reason: Reason, stage: str) -> str:
    """Return a stage's reason in the current language."""
    code, about = reason
    if code == reasons.SKIPPED:
        about = in_words(Reason.of(about), stage)
    if code == reasons.DISTURBED:
        about = all_in_words(split(about))
    if code == reasons.OFF:
        return translation(SWITCHES.get(about, about))
    if code not in WORDS:
        return str(reason)
    return translation(WORDS[code]).format(about=about, stage=stage)


def all_in_words(found: Iterable[Reason]) -> str:
    """Return several reasons in words, none with a stage's name."""
    return say("; ").join(in_words(each, "") for each in found)


def reason_of(judged: Judgement) -> str:
    """Return why a claim has no number, or why its number decides nothing; "" without a reason."""
    if need := judged.unmet:
        what, remedy = localized(need.label), localized(need.remedy)
        return say("needs {what}; {remedy}", what=what, remedy=remedy)
    return in_words(judged.reason, judged.claim.stage) if judged.reason.code else ""
