"""The recipes: the notes', and then each technique added to the one before."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from lab.training.run_params import NOTES, RunParams
from stages.together.measure.names import BF16, NOTES_WAY, SAME_STEPS, TECHNIQUES
from stages.together.measure.params import TogetherParams


class Recipe(RunParams):
    """A recipe with a technique and all before it, and what else these change.

    loop: `loader`, the notes' loop and loader; `memory`, their loop over images in memory;
    `engine`, training's own steps, whose images and weights lie channels last.
    crops: the loop in memory leaves out pixels that the net's logits do not depend on, as the
    engine always does.
    keeps_memory: what a step frees stays in the process.
    epochs: of one cycle of rates, by the accuracy in percent that it is to reach.
    """

    technique: str
    loop: Literal["loader", "memory", "engine"] = "loader"
    crops: bool = False
    keeps_memory: bool = False
    epochs: dict[int, int] = Field(default_factory=dict)


def recipes(bf16: bool) -> list[Recipe]:
    """Return the notes' recipe, then each technique added; in float32 where `bf16` is false."""
    recipe, found = Recipe(**NOTES.model_dump(), technique=NOTES_WAY), []
    for technique, changed in TECHNIQUES.items():
        recipe = recipe.but(technique=technique, **changed)
        found.append(recipe)
    if bf16:
        return found
    return [each.but(precision="fp32") for each in found if each.technique != BF16]


class RecipeRun(NamedTuple):
    """A run of a recipe with one seed: to an accuracy in percent, or a part of an epoch (0)."""

    target: int
    num_epochs: int
    in_part: bool = False


def timed_in_part(techniques: Sequence[str], epochs_known: bool) -> list[str]:
    """Those of SAME_STEPS; not the last where it is trained to know how many epochs they need."""
    same = [name for name in SAME_STEPS if name in techniques]
    return same if epochs_known else same[:-1]


def runs_of(
    recipe: Recipe, p: TogetherParams, techniques: Sequence[str], epochs_known: bool
) -> Iterator[RecipeRun]:
    """Yield the runs of a recipe, one of those with these `techniques`.

    `epochs_known`: another run has told how many epochs the notes' steps need.
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
