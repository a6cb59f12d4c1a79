"""The recipe of a training run, and the runs in params.yaml with their defaults.

The runs of `stages.train` and `stages.together` and the variants of `stages.bench_training` all use
it. It needs no torch, so that pages can compare recipes.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from lab.core.params import Section
from lab.core.shared_params import (
    Augmentation,
    Compile,
    CpuThreads,
    NetName,
    RunPrecision,
    ScheduleName,
)
from lab.data.datasets import FASHION_COUNTS
from lab.optim.update_rules import BETA, RULES


def _known(optimizer: str) -> str:
    if optimizer not in RULES:
        raise ValueError(f"one of {', '.join(RULES)}, got {optimizer!r}")
    return optimizer


Optimizer = Annotated[str, AfterValidator(_known), Field(json_schema_extra={"enum": [*RULES]})]
WITH_MOMENTUM = [name for name, rule in RULES.items() if rule.takes("beta")]


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
    optimizer: Optimizer
    momentum: Annotated[float, Field(ge=0, lt=1)]  # of optimizers that have it
    weight_decay: Annotated[float, Field(ge=0, lt=1)]  # Krogh and Hertz 1991
    label_smoothing: Annotated[float, Field(ge=0, lt=1)]  # Szegedy et al. 2016, section 7
    schedule: ScheduleName
    augment: Augmentation
    num_epochs: Annotated[int, Field(ge=1, le=10_000)]
    seeds: Annotated[int, Field(ge=1, le=1000)]
    train_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["train"])]
    test_images: Annotated[int, Field(ge=1, le=FASHION_COUNTS["t10k"])]

    @property
    def smallest_batch(self) -> int:
        """Number of images in an epoch's last batch."""
        return self.train_images % self.batch_size or self.batch_size

    @model_validator(mode="after")
    def _can_be_trained(self) -> Self:
        objections = [*_objections(self), *STEP_CHECKS[self.strategy](self)]
        if objections:
            raise ValueError("; and ".join(objections))
        return self


def _objections(recipe: RunParams) -> Iterator[str]:
    """Yield what the recipe should be instead, for checks that hold for all strategies."""
    if recipe.batch_size > recipe.train_images:
        yield (
            f"a batch_size of at most train_images ({recipe.train_images}), got {recipe.batch_size}"
        )
    if recipe.cpu_threads == "all" and recipe.num_gpus > 1:
        yield f"num_gpus 1 with cpu_threads all, got {recipe.num_gpus}"
    if recipe.shards != "none":
        yield from _sharded(recipe, recipe.shards)


def _sharded(recipe: RunParams, shards: int) -> Iterator[str]:
    if shards.bit_count() != 1:
        yield f"shards to be none or a power of two such as 8, got {shards}"
    elif recipe.num_gpus.bit_count() != 1 or recipe.num_gpus > shards:
        yield (
            f"num_gpus that is a power of two and at most {shards}, the shards,"
            f" got {recipe.num_gpus}"
        )
    if recipe.smallest_batch < shards:
        yield (
            f"batches of at least as many images as shards ({shards}), and the smallest has"
            f" {recipe.smallest_batch}; take fewer shards or another batch_size"
        )
    if recipe.strategy not in ("replicas", "ddp") or recipe.compile != "none":
        yield (
            "strategy replicas or ddp and compile none for shards, since only these keep the bits,"
            f" got {recipe.strategy} and {recipe.compile}"
        )


def _replicas(recipe: RunParams) -> Iterator[str]:
    if recipe.compile == "reduce-overhead" and recipe.num_gpus > 1:
        yield (
            "strategy ddp for compile reduce-overhead on several devices, since CUDA graphs of one"
            " process cannot run in several threads, got replicas"
        )


def _graph(recipe: RunParams) -> Iterator[str]:
    one_graph = recipe.num_gpus == 1 and recipe.schedule == "constant"
    if not one_graph or recipe.compile == "reduce-overhead":
        yield (
            "num_gpus 1, schedule constant and a compile other than reduce-overhead for strategy"
            " graph, which records one step with its learning rate"
        )


def _dataparallel(recipe: RunParams) -> Iterator[str]:
    if recipe.compile != "none":
        yield (
            "compile none for strategy dataparallel, whose replicas would all call the first GPU's"
            f" compiled net, got {recipe.compile}"
        )


def _ddp(recipe: RunParams) -> Iterator[str]:
    if recipe.cpu_threads == "all":
        yield "a strategy other than ddp with cpu_threads all"


# what each step of lab/training/steps requires of a recipe, checked without torch
STEP_CHECKS: Mapping[str, Callable[[RunParams], Iterator[str]]] = {
    "replicas": _replicas,
    "graph": _graph,
    "dataparallel": _dataparallel,
    "ddp": _ddp,
}


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
    optimizer="sgd",
    momentum=BETA,
    weight_decay=0.0,
    label_smoothing=0.0,
    schedule="constant",
    augment="none",
    num_epochs=10,
    seeds=1,
    train_images=FASHION_COUNTS["train"],
    test_images=FASHION_COUNTS["t10k"],
)


class TrainParams(Section):
    """The `train` section of params.yaml; its `runs` have the defaults filled in."""

    timeout_s: Annotated[int, Field(ge=1, le=86_400)]
    defaults: RunParams
    runs: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)], RunParams] = (
        Field(min_length=1)
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in_defaults(cls, section: Any) -> Any:
        """Give each run the defaults; wrong defaults are reported for `defaults`, not for runs."""
        try:
            defaults, runs = dict(section["defaults"]), section["runs"].items()
        except (LookupError, TypeError, ValueError, AttributeError):
            return section  # validation reports what is missing
        try:
            RunParams.model_validate(defaults)
        except ValidationError:
            defaults = NOTES.model_dump()
        filled = {
            name: defaults | (own or {}) if isinstance(own, dict | None) else own
            for name, own in runs
        }
        for name in (name for name, own in runs if isinstance(own, dict) and "momentum" in own):
            optimizer = filled[name].get("optimizer")
            if isinstance(optimizer, str) and optimizer in {*RULES} - {*WITH_MOMENTUM}:
                raise ValueError(
                    f"optimizer {', '.join(WITH_MOMENTUM)} with momentum in runs.{name}, got"
                    f" {optimizer}, which has none"
                )
        return {**section, "runs": filled}
