"""The recipe of a training run, and the runs in params.yaml with the defaults that fill the rest.

The one recipe holds for a run of `stages.train`, for a rung of `stages.together` and for a variant
of the race in `stages.bench_training`. It needs no torch, so that pages can compare recipes.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from lab.core.params import Section
from lab.core.shared_params import (
    Augmentation,
    Compile,
    CpuThreads,
    DistributedParams,
    NetName,
    RunPrecision,
    ScheduleName,
)
from lab.data.datasets import FASHION_COUNTS


class RunParams(Section):
    """The recipe of a training run; params.yaml says what each value means."""

    net: NetName
    strategy: Literal["replicas", "graph", "dataparallel", "ddp"]
    precision: RunPrecision
    compile: Compile
    num_gpus: Annotated[int, Field(ge=1, le=64)]
    cpu_threads: CpuThreads
    shards: Literal["none"] | Annotated[int, Field(ge=1, le=1024)]
    batch_size: Annotated[int, Field(ge=1, le=FASHION_COUNTS["train"])]
    lr: Annotated[float, Field(gt=0, le=1000)]
    momentum: Annotated[float, Field(ge=0, lt=1)]
    weight_decay: Annotated[float, Field(ge=0, lt=1)]  # Krogh and Hertz 1991
    label_smoothing: Annotated[float, Field(ge=0, lt=1)]  # Szegedy et al. 2016, section 7
    schedule: ScheduleName
    augment: Augmentation
    num_epochs: Annotated[int, Field(ge=1, le=10_000)]
    train_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["train"])]
    test_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["t10k"])]

    @model_validator(mode="after")
    def _batch_fits(self) -> Self:
        if self.batch_size > self.train_images:
            raise ValueError(
                f"a batch_size of at most train_images ({self.train_images}), got {self.batch_size}"
            )
        return self

    @model_validator(mode="after")
    def _shards_are_a_tree_over_devices(self) -> Self:
        if self.shards == "none":
            return self
        shards, num_gpus, smallest = self.shards, self.num_gpus, self.smallest_batch
        if shards.bit_count() != 1:
            raise ValueError(f"shards to be none or a power of two such as 8, got {shards}")
        if num_gpus.bit_count() != 1 or num_gpus > shards:
            raise ValueError(
                f"num_gpus that is a power of two and at most {shards}, the shards, got {num_gpus}"
            )
        if smallest < shards:
            raise ValueError(
                f"batches of at least as many images as shards ({shards}), and the smallest has"
                f" {smallest}; take fewer shards or another batch_size"
            )
        if self.strategy not in ("replicas", "ddp") or self.compile != "none":
            raise ValueError(
                "strategy replicas or ddp and compile none for shards, since only these keep the"
                f" bits, got {self.strategy} and {self.compile}"
            )
        return self

    @property
    def smallest_batch(self) -> int:
        """The images of an epoch's last batch."""
        return self.train_images % self.batch_size or self.batch_size

    @model_validator(mode="after")
    def _a_graph_has_a_process(self) -> Self:
        if self.compile == "reduce-overhead" and self.strategy != "ddp" and self.num_gpus > 1:
            raise ValueError(
                "strategy ddp for compile reduce-overhead on several devices, since CUDA graphs"
                f" of one process cannot run in several threads, got {self.strategy!r}"
            )
        return self

    @model_validator(mode="after")
    def _all_threads_are_of_one_device(self) -> Self:
        if self.cpu_threads == "all" and (self.num_gpus > 1 or self.strategy == "ddp"):
            raise ValueError(
                "num_gpus: 1 and a strategy other than ddp beside cpu_threads: all, got num_gpus:"
                f" {self.num_gpus} and strategy: {self.strategy}"
            )
        return self

    @model_validator(mode="after")
    def _a_recorded_step_is_always_the_same(self) -> Self:
        if self.strategy == "graph":
            asked = (
                self.num_gpus,
                self.momentum,
                self.weight_decay,
                self.schedule,
                self.compile == "reduce-overhead",
            )
            if asked != (1, 0, 0, "constant", False):
                raise ValueError(
                    "num_gpus 1, momentum 0, weight_decay 0, schedule constant and another compile"
                    " than reduce-overhead for strategy graph, which records one step of plain SGD"
                )
        return self

    @model_validator(mode="after")
    def _replicas_made_anew_are_not_compiled(self) -> Self:
        if self.strategy == "dataparallel" and self.compile != "none":
            raise ValueError(
                "compile none for strategy dataparallel, whose replicas would all call the first"
                f" GPU's compiled net, got {self.compile!r}"
            )
        return self


NOTES = RunParams(  # the notes' run of LeNet on one device (13.5)
    net="lenet",
    strategy="replicas",
    precision="fp32",
    compile="none",
    num_gpus=1,
    cpu_threads="auto",
    shards="none",
    batch_size=256,
    lr=0.2,
    momentum=0.0,
    weight_decay=0.0,
    label_smoothing=0.0,
    schedule="constant",
    augment="none",
    num_epochs=10,
    train_images=FASHION_COUNTS["train"],
    test_images=FASHION_COUNTS["t10k"],
)


class TrainParams(Section):
    """The `train` section of params.yaml; `runs` come out with the defaults filled in."""

    distributed: DistributedParams
    defaults: RunParams
    runs: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)], RunParams] = (
        Field(min_length=1)
    )

    @model_validator(mode="wrap")
    @classmethod
    def _fill_in_defaults(cls, section: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """Check each run with the defaults filled in; a wrong default is one mistake."""
        try:
            defaults = dict(section["defaults"])
            changes = {name: {} if own is None else own for name, own in section["runs"].items()}
        except (LookupError, TypeError, ValueError, AttributeError):
            return validate(section)  # which says what is missing
        runs = {
            name: defaults | own if isinstance(own, dict) else own for name, own in changes.items()
        }
        try:
            return validate({**section, "runs": runs})
        except ValidationError as error:
            own_mistakes = [one for one in error.errors() if not _inherited(one["loc"], changes)]
            raise ValidationError.from_exception_data(
                cls.__name__, [_again(one) for one in own_mistakes]
            ) from None


def _inherited(place: tuple[int | str, ...], changes: dict[str, Any]) -> bool:
    """Whether a mistake under `runs` is in a value that the run takes from the defaults."""
    if len(place) < 3 or place[0] != "runs" or place[2] not in RunParams.model_fields:
        return False
    return place[2] not in changes[str(place[1])]


def _again(error: ErrorDetails) -> InitErrorDetails:
    """A mistake that was found, as one to be raised."""
    kind: Any = error["type"]
    if kind == "value_error":
        kind = PydanticCustomError("value_error", "{reason}", {"reason": error["msg"]})
        return InitErrorDetails(type=kind, loc=error["loc"], input=error["input"])
    return InitErrorDetails(
        type=kind, loc=error["loc"], input=error["input"], ctx=error.get("ctx", {})
    )
