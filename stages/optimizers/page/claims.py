"""What the notes claim about what `optimizers` measures, and the rules that decide."""

from lab.claims.needs import REAL_AIRFOIL
from lab.claims.rules import FASTER, NEEDED, Range, Rule, at_least, at_most, near
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured
from lab.results.stats import SMALLEST_EFFECT
from stages.optimizers.measure.names import ADAGRAD_LOWER_PERCENT, NEAR

STAGE = "optimizers"
SAME = Range(1 / (1 + SMALLEST_EFFECT), 1 + SMALLEST_EFFECT)


CLAIMS = (
    Claim(
        "F7a",
        "12.6",
        Kind.SAID,
        "001:122",
        "Momentum 0.9 averages noise away like the mean of 1/(1 − 0.9) = 10 gradients.",
        "How often the variance of the averaged gradient goes into that of a single one, for"
        " independent airfoil gradients.",
        Rule("effective_gradients", near(10, 1)),
        "A tenth of 10. The weights of the sum do add up to 10, but it is as quiet as the mean of"
        " (1 + β)/(1 − β) = 19 gradients.",
        REAL_AIRFOIL,
        front=Front(
            16,
            "Momentum 0.9 averages like {number} gradients, not like the 10 that the notes name.",
        ),
    ),
    Claim(
        "F8a",
        "12.6",
        Kind.SAID,
        "001:122",
        "At learning rate 0.02, momentum 0.9 gets out of control on the airfoil regression, so"
        " the notes lower it to 0.01.",
        "Largest excess over the exact minimum after the first epoch at learning rate 0.02,"
        " relative to that of the start.",
        Rule("momentum_worst", at_least(1)),
        "“Out of control”: a run comes back to where it started.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F9a",
        "12.6",
        Kind.SAID,
        "001:128",
        "Momentum 0.9 at learning rate 0.005 converges well on the airfoil regression.",
        "Excess after two epochs relative to that at the best of many learning rates, chosen with"
        " other seeds.",
        Rule("momentum_over_its_best", at_most(NEAR)),
        "“Well”: at most twice the excess at the best learning rate; one step of the sweep is a"
        " factor of 1.6.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F10a",
        "12.6",
        Kind.ASKED,
        "001:134-138 001:234-239 001:315-319",
        "Given the same loss and batches, torch's momentum, AdaGrad and Adam take the same course"
        " as the notes' code from scratch.",
        "Excess after two epochs from the same starts, with the same loss and batches: torch's"
        " relative to the one from scratch, of the three the ratio farthest from 1.",
        Rule("torch_over_scratch", SAME),
        "“The same course”: excesses within 2 %. torch's epsilons are smaller, and AdaGrad's"
        " stands outside the root.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F10b",
        "12.6",
        Kind.ASKED,
        "001:134-138",
        "As the notes call it, torch's momentum ends where their run from scratch does.",
        "Excess after two epochs each: the concise run as the notes have it relative to the one"
        " from scratch.",
        Rule("concise_over_scratch", SAME),
        "“Where”: within 2 %. torch's MSELoss lacks the half of the notes' loss, which doubles"
        " the learning rate.",
        REAL_AIRFOIL,
        front=Front(
            18,
            "The notes' concise momentum run is not their run from scratch: "
            "torch's loss has no factor ½, which doubles the learning rate and "
            "leaves {number}× the excess loss.",
        ),
    ),
    Claim(
        "F11a",
        "12.7",
        Kind.SAID,
        "001:143",
        "SGD with a learning rate that falls as t^−1/2 ends lower than with a constant one.",
        "Excess on the airfoil regression, each at its best learning rate: SGD with a constant"
        " learning rate relative to a falling one.",
        Rule("constant_over_falling", FASTER),
        "“Lower”: by more than 2 %, each learning rate chosen with other seeds. The notes speak"
        " of a language model's accuracy; this is their own regression.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F11c",
        "12.7",
        Kind.SAID,
        "001:149-152",
        "With a learning rate that falls as t^−1/2, common features converge soon while rare ones"
        " are still far off.",
        "Error of rare features' weights relative to that of common ones', SGD with a learning"
        " rate that falls as t^−1/2.",
        Rule("rare_over_common", at_least(NEAR)),
        "“Still far off”: at least twice the error. Common: in a tenth of the rows; rare: in one of"
        " thirty at most.",
    ),
    Claim(
        "F11d",
        "12.7",
        Kind.SAID,
        "001:154",
        "Counting how often a feature was seen, to set its learning rate, helps with rare"
        " features.",
        "Excess on sparse regression, each at its best learning rate: one that falls with steps"
        " relative to one that falls with counts.",
        Rule("steps_over_counts", FASTER),
        "“Helps”: by more than 2 %.",
    ),
    Claim(
        "F11e",
        "12.7",
        Kind.ASKED,
        "001:154-171",
        "AdaGrad does better on sparse features than one falling learning rate for all.",
        "Excess on sparse regression, each at its best learning rate: SGD with one that falls as"
        " t^−1/2 relative to AdaGrad.",
        Rule("falling_over_adagrad", FASTER),
        "“Better”: by more than 2 %. Both learning rates fall; only AdaGrad's differ from weight"
        " to weight.",
    ),
    Claim(
        "F12a",
        "12.7",
        Kind.SAID,
        "001:173",
        "AdaGrad's sum of squared gradients grows about linearly, so its learning rate falls as"
        " t^−1/2.",
        "Exponent with which the sum grows on the airfoil regression, fitted after step 300.",
        Rule("growth_exponent", near(1, 0.1)),
        "“About”: a tenth either way.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F12b",
        "12.7",
        Kind.SAID,
        "001:171",
        "AdaGrad does not make a step noticeably more expensive than SGD does.",
        "Time of a whole training step of LeNet on 256 images: with torch's AdaGrad relative to"
        " its SGD.",
        Rule("adagrad_step_over_sgd", at_most(NEEDED), at_least(1 - SMALLEST_EFFECT)),
        "“Noticeably”: over a tenth. AdaGrad does more than SGD: a step that is faster by over 2 %"
        " is a broken measurement.",
    ),
    Claim(
        "F12e",
        "12.7",
        Kind.ASKED,
        "001:173",
        "On three convex regressions AdaGrad's t^−1/2 is entirely enough.",
        "Excess of AdaGrad relative to that of the best of nine optimizers, each at its best"
        " learning rate: the worst of the three regressions.",
        Rule("adagrad_over_the_best", at_most(NEAR)),
        "“Enough”: on none more than twice the excess of the best; optimizer and learning rates"
        " are chosen with other seeds.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F13a",
        "12.7",
        Kind.SAID,
        "001:180",
        "AdaGrad at learning rate 0.4 moves only a little in the later steps.",
        "Length of its last of 20 steps relative to that of its first.",
        Rule("adagrad_last_step", at_most(round(20**-0.5, 3))),
        "“Only a little”: no more than a learning rate that falls as t^−1/2 leaves after 20 steps.",
    ),
    Claim(
        "F14c",
        "12.7",
        Kind.ASKED,
        "001:203",
        "AdaGrad at learning rate 2 beats gradient descent at 0.4 whichever way the valley lies:"
        " also rotated by 45 degrees.",
        "Starting directions from which AdaGrad ends lower, on the notes' quadratic with its axes"
        " rotated by 45 degrees.",
        Rule(ADAGRAD_LOWER_PERCENT[45], at_least(50)),
        "“Beats”: from most directions. Along the coordinates' axes it does from nearly all.",
        front=Front(
            15,
            "AdaGrad's lead depends on the axes: rotate the notes' valley by "
            "45°, and AdaGrad (learning rate 2) beats gradient descent (0.4) "
            "from only {number}% of the starting directions.",
        ),
    ),
    Claim(
        "F17a",
        "12.10",
        Kind.SAID,
        "001:244",
        "On three regressions Adam is one of the more robust and effective optimizers.",
        "Its rank of nine by the decades of learning rates at which an optimizer ends within"
        " twice the best excess, mean of three regressions.",
        Rule("adam_rank", at_most(4)),
        "“One of the more”: in the upper half of nine. The best are chosen with other seeds.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F17b",
        "12.10",
        Kind.ASKED,
        "001:269-270",
        "On the airfoil regression it makes no difference whether epsilon stands inside or outside"
        " Adam's root.",
        "Excess over the exact minimum after two epochs at the notes' settings: inside relative"
        " to outside, paired by seed.",
        Rule("epsilon_inside_over_outside", SAME),
        "“No difference”: within 2 %. The note finds epsilon outside slightly better in practice;"
        " gradients here are far larger than epsilon, which therefore hardly matters.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F17c",
        "12.10",
        Kind.SAID,
        "001:271",
        "An epsilon of 1e-6 is a good balance of stability and fidelity.",
        "Excess of Adam with it relative to that with the best of seven epsilons, chosen with"
        " other seeds: the worst of three regressions.",
        Rule("notes_epsilon_over_the_best", at_most(NEAR)),
        "“Good”: at most twice the best excess.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F17g",
        "12.10",
        Kind.ASKED,
        "001:271 001:318",
        "torch's epsilon of 1e-8 does as well as the notes' 1e-6 on three regressions.",
        "Excess of Adam at its best learning rate: with torch's default relative to 1e-6, the"
        " worst of the three.",
        Rule("torchs_epsilon_over_the_notes", at_most(1 + SMALLEST_EFFECT)),
        "“As well”: on none worse by more than 2 %. Each is far smaller than the roots of the"
        " squared gradients to which it is added.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F17e",
        "12.10",
        Kind.SAID,
        "001:257-261",
        "Averages that start at 0 are considerably biased at first, and Adam's correction of that"
        " pays.",
        "Excess of Adam at learning rate 0.01 after two epochs: without the correction relative"
        " to with it.",
        Rule("uncorrected_over_corrected", FASTER),
        "“Pays”: a lower excess by more than 2 %.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F17h",
        "12.10",
        Kind.ASKED,
        "001:264-268",
        "With the notes' decay of 0.999 Adam without its momentum is very like RMSProp.",
        "Excess after two epochs at learning rate 0.01, as each seed's mean of 40 runs: RMSProp"
        " relative to Adam with β1 = 0 and the same decay and epsilon.",
        Rule("rmsprop_over_adam", Range(1 / NEEDED, NEEDED)),
        "“Very like”: within a tenth. They differ in the correction only: RMSProp has none, so its"
        " step t is longer by the factor 1/√(1 − 0.999^t).",
        REAL_AIRFOIL,
    ),
    Claim(
        "F17i",
        "12.10",
        Kind.ASKED,
        "001:279",
        "In the notes' run averages that start at the first gradient do as well as corrected ones.",
        "Excess of Adam after two epochs at learning rate 0.01, as each seed's mean of 40 runs:"
        " with such averages relative to corrected ones.",
        Rule("from_first_gradient_over_corrected", at_most(1 + SMALLEST_EFFECT)),
        "“As well”: worse by no more than 2 %. The note also changes the update: with the weight"
        " β(1 − β^(t−1))/(1 − β^t) for the past, in place of β, the averages are the corrected"
        " ones.",
        REAL_AIRFOIL,
    ),
    Claim(
        "F18a",
        "12.10",
        Kind.SAID,
        "001:258",
        "The powers of β from 0 to t add up to (1 − β^t)/(1 − β), as for β = 0.9 and t = 20.",
        "Error of the formula for β = 0.9 and t = 20.",
        Rule("sum_formula_error", at_most(1e-6)),
        "An equation: rounding is all that is allowed. It holds for the sum from 0 to t − 1.",
    ),
)

UNMEASURED = (
    Unmeasured(
        "001:145-146",
        "Features that occur rarely are common in language, in advertising and in filtering.",
        "No such data are among the notes'; the sparse regression here is made up.",
    ),
    Unmeasured(
        "001:244",
        "Adam is very popular.",
        "How many use a method is nothing that a machine here can measure.",
    ),
)
