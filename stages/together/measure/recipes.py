"""The recipes: the notes' recipe, then one more technique in each."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from lab.training.run_params import NOTES, RunParams
from stages.together.measure.names import BASELINE, BF16, SAME_STEPS, TECHNIQUES
from stages.together.measure.params import TogetherParams


class Recipe(RunParams):
    """A recipe with a technique and all techniques before it.

    Attributes:
        technique: the last technique added.
        loop: `loader`, the notes' loop and loader; `memory`, their loop over images in memory;
            `engine`, the lab's own training steps, channels-last.
        crops: the `memory` loop skips pixels that never affect the logits; `engine` always does.
        keeps_memory: the process keeps freed memory.
        epochs: of the one-cycle schedule, by its target accuracy in percent.
    """

    technique: str
    loop: Literal["loader", "memory", "engine"] = "loader"
    crops: bool = False
    keeps_memory: bool = False
    epochs: dict[int, int] = Field(default_factory=dict)


def recipes(bf16: bool) -> list[Recipe]:
    """Return the notes' recipe, then one more technique in each; all in float32 unless `bf16`."""
    recipe, found = Recipe(**NOTES.model_dump(), technique=BASELINE), []
    for technique, changed in TECHNIQUES.items():
        recipe = recipe.but(technique=technique, **changed)
        found.append(recipe)
    if bf16:
        return found
    return [each.but(precision="fp32") for each in found if each.technique != BF16]


class RecipeRun(NamedTuple):
    """A run of a recipe with one seed, to `target` percent or of a part of an epoch (target 0)."""

    target: int
    num_epochs: int
    in_part: bool = False


def timed_in_part(techniques: Sequence[str], epochs_known: bool) -> list[str]:
    """Return the SAME_STEPS to time in part; train the last whole if the epochs are unknown."""
    same = [name for name in SAME_STEPS if name in techniques]
    return same if epochs_known else same[:-1]


def runs_of(
    recipe: Recipe, p: TogetherParams, techniques: Sequence[str], epochs_known: bool
) -> Iterator[RecipeRun]:
    """Yield the runs of a recipe, given all `techniques`.

    `epochs_known`: a different run showed how many epochs the notes' steps need.
    """
    targets: Sequence[int] = (
        p.targets if recipe.technique == techniques[-1] else p.targets_on_the_way
    )
    if recipe.technique in timed_in_part(techniques, epochs_known) and not p.whole:
        yield RecipeRun(0, 1, in_part=True)
    elif recipe.schedule == "constant":
        yield RecipeRun(max(targets), p.max_epochs)
    else:
        for target in targets:
            yield RecipeRun(target, recipe.epochs[target])
