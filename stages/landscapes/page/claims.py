"""What the notes claim about what `landscapes` measures, and the rules that decide."""

from lab.claims.needs import REAL_AIRFOIL
from lab.claims.rules import FASTER, Rule, at_least, at_most
from lab.claims.verdicts import Claim, Kind

CLAIMS = (
    Claim(
        "F1a",
        "12.1",
        Kind.SAID,
        "001:9-14",
        "A lower training error is not enough: overfitting raises the error on new rows.",
        "Error on the other rows of the airfoil data after the last step of training on a few,"
        " relative to the error after the best step, which other random splits chose.",
        Rule("price", FASTER),
        "“Raises”: by more than 2 % from the best step to the end, while the training error falls.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F2a",
        "12.1",
        Kind.SAID,
        "001:38",
        "The minimum of the empirical risk need not be where the minimum of the risk is.",
        "Distance between the two minimizers, found numerically.",
        Rule("minima_apart", at_least(0.01)),
        "0.01 is the step with which the notes draw both functions: less could not be seen.",
    ),
    Claim(
        "F3b",
        "12.1",
        Kind.SAID,
        "001:54",
        "Every point of zero gradient that is not a minimum is a saddle (so even the maximum of"
        " −x1² − x2² would be one).",
        "Of the quadratics ±x1² ± x2², those that only fall from their flat point at 0: maxima.",
        Rule("maxima", at_most(0)),
        "“Every”: one counterexample is enough. The definition forgets maxima.",
    ),
    Claim(
        "F4b",
        "12.1",
        Kind.ASKED,
        "001:62",
        "Saddles from which only one direction leads down are harder to notice in higher"
        " dimensions.",
        "Share of random directions that lead down from a saddle like the notes', which goes up"
        " along each axis except the last: in 10 dimensions, relative to 2.",
        Rule("ways_down", at_most(0.5)),
        "“Harder”: half as many directions or fewer give it away. From saddles of random matrices"
        " as many lead down in 10 dimensions as in 2: of those the sentence is not true.",
    ),
)
