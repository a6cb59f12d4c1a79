"""Reasons in words: why there is no number, or why it decides nothing."""

from collections.abc import Iterable

from lab.claims.verdicts import Judgement
from lab.report.language import localized, say
from lab.results import reasons
from lab.results.reasons import Reason, split


def in_words(reason: Reason, stage: str) -> str:
    """A stage's reason in the language that is spoken."""
    code, about = reason
    if code == reasons.SKIPPED:
        about = in_words(Reason.of(about), stage)
    if code == reasons.DISTURBED:
        about = all_in_words(split(about))
    messages = {
        reasons.SKIPPED: say("left out here: {about}", about=about),
        reasons.NOT_MEASURED: say(
            "not measured: {about}; `dvc repro {stage}` measures it", about=about, stage=stage
        ),
        reasons.BROKEN: say(
            "{about} cannot be: the measurement is broken; `invoke remeasure --stage {stage}`"
            " measures again",
            about=about,
            stage=stage,
        ),
        reasons.UNUSABLE: say("unusable samples: {about}", about=about),
        reasons.LAUNCH_BOUND: say("hardly longer than its launch; raise {about}", about=about),
        reasons.NO_RACE: say("without an event the result was right, too: there was no race"),
        reasons.NOT_LONGER: say("the second job was not the longer; raise {about}", about=about),
        reasons.TARGET_MISSED: say(
            "{about} runs that should need fewer epochs missed the target; raise max_epochs",
            about=about,
        ),
        reasons.NEEDS: say("needs {about}", about=about),
        reasons.NEEDS_GPU: say("needs a GPU"),
        reasons.NEEDS_GPUS: say("needs {about} GPUs", about=about),
        reasons.NEEDS_TWO_GPUS_OR_NONE: say("needs two GPUs, or none"),
        reasons.NEEDS_CORES: say("needs {about} cores", about=about),
        reasons.NEEDS_LARGER_SIZES: say("needs larger sizes on this GPU"),
        reasons.NEEDS_BF16: say("needs instructions for bfloat16"),
        reasons.NEEDS_LIGHTNING: say("needs PyTorch Lightning: pip install -e '.[peers]'"),
        reasons.NO_TORCHSCRIPT: say("torch {about} has no TorchScript", about=about),
        reasons.OFF: say("{about} is false", about=about),
        reasons.FAILED: say("does not work here ({about})", about=about),
        reasons.NO_TIME: say("not compiled within the time that was left"),
        reasons.DISTURBED: say(
            "{about}; `invoke remeasure --stage {stage}` measures again", about=about, stage=stage
        ),
        reasons.BUSY: say("the machine was busy ({about})", about=about),
        reasons.SLEPT: say("the machine slept ({about})", about=about),
        reasons.THROTTLED: say("the CPU quota held it back ({about})", about=about),
        reasons.GPU_BUSY: say("others computed on the GPU ({about})", about=about),
        reasons.DRIFTED: say("the machine's speed changed ({about})", about=about),
        reasons.FOREIGN: say("measured on an unknown device: {about}", about=about),
        reasons.NOT_SEEN: say("not seen here, which refutes no “{about}”", about=about),
        reasons.TOO_FEW: say("too few samples to decide: {about}", about=about),
    }
    return messages.get(code, str(reason))


def all_in_words(found: Iterable[Reason]) -> str:
    """Several reasons of a stage, none of which names it."""
    return say("; ").join(in_words(each, "") for each in found)


def reason_of(judged: Judgement) -> str:
    """Why a claim has no number, or why it decides nothing; empty where there is no reason."""
    if need := judged.unmet:
        what, remedy = localized(need.label), localized(need.remedy)
        return say("needs {what}; {remedy}", what=what, remedy=remedy)
    return in_words(judged.reason, judged.claim.stage) if judged.reason.code else ""
