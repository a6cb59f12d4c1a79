"""What the notes claim about what `replicas` measures, and the rules that decide."""

from lab.claims.evidence import Metric
from lab.claims.needs import Need, real_images
from lab.claims.rules import (
    POINTS,
    Over,
    Range,
    Rule,
    at_least,
    at_most,
    difference,
    exact,
    near,
    samples,
    series,
)
from lab.claims.verdicts import Claim, Kind, Unmeasured
from stages.replicas.measure import names
from stages.replicas.measure.names import (
    ALIASING,
    APART,
    FROM_ONE_DEVICE,
    IN_PLACE,
    LOCAL,
    ONE_DEVICE,
    REBINDING,
    SEPARATE,
    millionths,
    replica_of,
)

MILLIONTHS = "millionths (largest difference)"
OF_GRADIENT = "% of the gradient's length"
ACCURACY = "% of the test images"
ROUNDING_MILLIONTHS = 12  # a hundred roundings of a float32 around 1
BOOK_ACCURACY = 83.5  # percent: the book prints 0.83, its Chinese edition 0.84
# points: half of the 5.9 by which the last four epochs of the book's own curve differ
BOOK_WOBBLE = 3.0
SAME_ACCURACY = 2.0  # points: the book prints two digits and calls 0.83 and 0.84 the same
NUM_GRADIENTS = 8  # LeNet's


def from_one_device(variant: str) -> Rule:
    """The rule that only rounding tells a variant's weights from those of one device."""
    metric = Metric("replicas", millionths(variant, FROM_ONE_DEVICE))
    return exact(metric, at_most(ROUNDING_MILLIONTHS), MILLIONTHS)


def apart(variant: str) -> Rule:
    """The rule that a variant's replicas are equal to the bit."""
    return exact(Metric("replicas", millionths(variant, APART)), near(0, 0), MILLIONTHS)


def cell(name: str, holds: Range, unit: str) -> Rule:
    """The rule on what one of the notes' short cells shows."""
    return exact(series("replicas", names.CELLS, name), holds, unit)


def replicas_differ_in(what: str) -> Rule:
    """The rule that ResNet-18's replicas are equal to the bit in their weights or statistics."""
    return exact(series("replicas", names.FOUR_STEPS, what), near(0, 0), MILLIONTHS)


def beside_one_device(demo: str, arm: str, holds: Range) -> Rule:
    """The rule on an arm's accuracy less that of one device, seed by seed."""
    one, other = (series("replicas", demo, name) for name in (arm, ONE_DEVICE))
    return difference(one, other, holds, POINTS, Over.SEEDS)


def recipe() -> tuple[Need, ...]:
    """The notes' recipe: ten epochs of all images, on two devices where there are several."""
    remedy = "the profile `study` trains as the notes do"
    wanted = ((names.EPOCHS, 10), (names.TRAIN_IMAGES, 60_000), ("num_devices", 2))
    return (
        *real_images("replicas"),
        *(Need("the notes' recipe", Metric("replicas", n), (v,), remedy) for n, v in wanted),
    )


CLAIMS = (
    Claim(
        "D2b",
        "13.5",
        Kind.SAID,
        "000:261",
        "On several devices batch norm has to be adapted.",
        "LeNet with batch norm on several devices, each with its own statistics, all else as"
        " without batch norm: test accuracy less that of one device with the whole batch, by seed.",
        beside_one_device(names.NORM_ACCURACY, LOCAL, at_most(-SAME_ACCURACY)),
        "It has to be, if a net without it loses more than what counts as the same in D12a.",
        real_images("replicas"),
    ),
    Claim(
        "D2c",
        "13.5",
        Kind.SAID,
        "000:261",
        "Batch-norm parameters of each device's own are a way to adapt it.",
        "The same net with weights and biases of batch norm that no all-reduce touches: test"
        " accuracy less that of one device, by seed.",
        beside_one_device(names.NORM_ACCURACY, SEPARATE, at_least(-SAME_ACCURACY)),
        "Adapted: no more is lost than what counts as the same in D12a.",
        real_images("replicas"),
    ),
    Claim(
        "D5",
        "13.5",
        Kind.ASKED,
        "000:313-320 004:42-46",
        "Also on CPU devices, moving the parameters there gives each device its own.",
        "Weights after training replicas made without a copy, on CPU devices, against one device.",
        from_one_device(ALIASING),
        "A hundred roundings of a float32. The notes move parameters to GPUs, which copies; where"
        " they are already, `.to` copies nothing.",
    ),
    Claim(
        "D5b",
        "13.5",
        Kind.SAID,
        "000:328",
        "Before anything is computed, the parameters' gradients are zero.",
        "How many of LeNet's eight gradients are tensors of zeros after `get_params`.",
        cell(names.ZEROS, near(NUM_GRADIENTS, 0), "of the 8 gradients"),
        "All eight. There are none: torch has None until the first backward pass.",
    ),
    Claim(
        "D5c",
        "13.5",
        Kind.PRINTED,
        "002:72 004:55",
        "The gradient that is printed after `get_params` is None.",
        "How many of LeNet's eight gradients are None after `get_params`.",
        cell(names.NONES, near(NUM_GRADIENTS, 0), "of the 8 gradients"),
        "All eight.",
    ),
    Claim(
        "D5d",
        "13.5",
        Kind.PRINTED,
        "004:49-54",
        "After `get_params` the original bias, which the note prints, requires a gradient itself.",
        "How many of LeNet's eight originals require a gradient after `get_params` on a CPU.",
        cell(names.CHANGED_ORIGINALS, near(NUM_GRADIENTS, 0), "of the 8 originals"),
        "All eight: on the CPU where the note ran, the moved parameters are the originals.",
    ),
    Claim(
        "D6a",
        "13.5",
        Kind.SAID,
        "000:328 002:75",
        "All-reduce in place adds up all gradients and gives the sum to every device.",
        "Largest difference between replicas' weights after training by hand.",
        apart(IN_PLACE),
        "Copies of one sum are equal to the bit.",
    ),
    Claim(
        "D6b",
        "13.5",
        Kind.SAID,
        "001:527",
        "Note 001's all-reduce, which assigns the sum to a list's entries, gives it to every"
        " device.",
        "Largest difference between replicas' weights after training with it.",
        apart(REBINDING),
        "Copies of one sum are equal to the bit.",
    ),
    Claim(
        "D6c",
        "13.5",
        Kind.PRINTED,
        "002:103-105 004:75-77",
        "All-reduce turns ones and twos into threes on both devices.",
        "The most that a number of the two vectors differs from 3, added in place.",
        cell(names.SUM_OFF, near(0, 0), "(largest deviation from 3)"),
        "Small whole numbers are exact.",
    ),
    Claim(
        "D6d",
        "13.5",
        Kind.ASKED,
        "001:535-540",
        "The demo of note 001's all-reduce prints what the devices have after it.",
        "Tensors of the two that are not what the demo prints.",
        cell(names.REBINDING_HIDES, near(0, 0), "of 2 tensors"),
        "None. The demo prints the list, whose entries are new tensors: 3 and 3.",
    ),
    Claim(
        "D6e",
        "13.5",
        Kind.SAID,
        "000:343",
        "The demo's all-reduce takes the sum or the mean.",
        "The most that a number of the two vectors differs from the nearer of 3 and 1.5.",
        cell(names.NEITHER_SUM_NOR_MEAN, near(0, 0), "(largest deviation from sum or mean)"),
        "Small whole numbers are exact. It is the sum.",
    ),
    Claim(
        "D6f",
        "13.5",
        Kind.ASKED,
        "000:343 000:392",
        "The training by hand may take the mean in place of the sum.",
        "Length of LeNet's first update on two devices if their all-reduce averages, over that if"
        " it adds.",
        cell(names.MEAN_UPDATE, near(100, 1), "% of the update with a sum"),
        "The same update, to a percent. The rate is divided by the whole batch already.",
    ),
    Claim(
        "D6g",
        "13.5",
        Kind.SAID,
        "000:328",
        "What is added has to be copied first to the device that adds.",
        "Whether torch refuses to add a vector on the CPU and one on another device (`meta`, on"
        " which nothing is stored).",
        cell(names.REFUSED_ADDITIONS, near(1, 0), "of 1 addition refused"),
        "It has to be, if it does not work without.",
    ),
    Claim(
        "D7a",
        "13.5",
        Kind.SAID,
        "000:350 001:545 002:5",
        "A batch is spread evenly: of two devices each gets half of the 4 x 5 matrix.",
        "Share of its rows on the fuller of two devices, split by what torch's scatter calls.",
        cell(names.FULLER_SHARE, near(50, 0), "% of the rows on the fuller device"),
        "Half. The scatter itself takes GPUs only; it splits by `chunk`.",
    ),
    Claim(
        "D7b",
        "13.5",
        Kind.ASKED,
        "000:350 002:5",
        "Torch's scatter spreads every batch as evenly as can be.",
        "The most by which two devices' images differ in number, of batches up to 256 on 2 to 8"
        " devices that are split by `chunk`.",
        cell(names.UNEVEN, at_most(1), "images between most and fewest"),
        "As evenly as can be: one image at most.",
    ),
    Claim(
        "D10a",
        "13.5",
        Kind.ASKED,
        "004:133",
        "Note 004's training, which it never ran, prints its accuracy at the end.",
        "Whether Python formats a number by `.2f` with a blank behind it, as the note's last line"
        " has it.",
        cell(names.BLANK_FORMATS, near(1, 0), "of 1 accuracy printed"),
        "It raises a ValueError or it does not.",
    ),
    Claim(
        "D11",
        "13.5",
        Kind.PRINTED,
        "book:13.5",
        "LeNet on one device, batch 256 and rate 0.2, ends at a test accuracy of 0.83 or 0.84.",
        "Test accuracy after ten epochs, the median over seeds.",
        samples(
            series("replicas", names.ACCURACY, ONE_DEVICE),
            near(BOOK_ACCURACY, BOOK_WOBBLE),
            ACCURACY,
            Over.SEEDS,
        ),
        "Half of the 5.9 points by which the last four epochs of the book's own curve differ.",
        recipe(),
    ),
    Claim(
        "D12a",
        "13.5",
        Kind.SAID,
        "000:427",
        "Two devices reach essentially the test accuracy of one.",
        "Test accuracy after ten epochs on two devices, less that on one, by seed.",
        beside_one_device(names.ACCURACY, replica_of(IN_PLACE, 1), near(0, SAME_ACCURACY)),
        "The book prints two digits and calls 0.83 and 0.84 the same: under two points.",
        recipe(),
    ),
    Claim(
        "D12b",
        "13.5",
        Kind.SAID,
        "000:427",
        "The number of devices changes nothing in the algorithm.",
        "LeNet's weights after steps by hand on shards of uneven size, with the all-reduce in"
        " place, against the whole batches on one device.",
        from_one_device(IN_PLACE),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "D12c",
        "13.5",
        Kind.ASKED,
        "001:527-533 001:576",
        "Also with note 001's all-reduce the number of devices changes nothing in the algorithm.",
        "LeNet's weights after steps by hand with that all-reduce, against one device.",
        from_one_device(REBINDING),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "D12e",
        "13.5",
        Kind.ASKED,
        "001:527-533 001:596-597",
        "With note 001's all-reduce, the replica that it evaluates is as accurate as one device.",
        "Its test accuracy after ten epochs on two devices, less that on one, by seed.",
        beside_one_device(names.ACCURACY, replica_of(REBINDING, 1), near(0, SAME_ACCURACY)),
        "As for the all-reduce in place: under two points.",
        recipe(),
    ),
    Claim(
        "D12f",
        "13.5",
        Kind.ASKED,
        "001:527-533 001:596-597",
        "With note 001's all-reduce, the replica that it does not evaluate is as accurate, too.",
        "Test accuracy of the second of two replicas after ten epochs, less that on one device, by"
        " seed.",
        beside_one_device(names.ACCURACY, replica_of(REBINDING, 2), near(0, SAME_ACCURACY)),
        "As for the all-reduce in place: under two points.",
        recipe(),
    ),
    Claim(
        "G9",
        "13.7",
        Kind.SAID,
        "001:442",
        "Synchronous SGD on n devices with b images each is SGD on one with n · b.",
        "Change of the gradient of the notes' ResNet-18 when a batch is split over devices,"
        " relative to its length, the median over seeds.",
        samples(
            series("replicas", names.GRADIENT_CHANGE, names.WITH_BATCH_NORM),
            at_most(0.1),
            OF_GRADIENT,
            Over.SEEDS,
        ),
        "Far more than rounding, which changes LeNet's by about 0.00001 % (D12b). Batch norm takes"
        " its statistics from each share.",
    ),
    Claim(
        "E3",
        "13.6",
        Kind.SAID,
        "000:499-504 002:251-256",
        "To train ResNet-18 on several devices takes the four things that LeNet took: parameters"
        " everywhere, a split batch, gradients on each device, their sum.",
        "Largest difference between the replicas' weights after two steps that do these by hand.",
        replicas_differ_in(names.WEIGHTS),
        "They suffice, if the replicas stay equal to the bit.",
    ),
    Claim(
        "E3e",
        "13.6",
        Kind.ASKED,
        "000:499-504 000:542",
        "The four things suffice to keep all of ResNet-18 one network, whichever replica is"
        " evaluated.",
        "Largest difference between the replicas' running statistics of batch norm after two"
        " steps.",
        replicas_differ_in(names.RUNNING_STATISTICS),
        "Equal to the bit. No all-reduce of gradients touches them.",
    ),
    Claim(
        "E3f",
        "13.6",
        Kind.SAID,
        "000:435",
        "The code of the concise section needs two GPUs at least.",
        "Training steps of ResNet-18 with nn.DataParallel that run on one device, here a GPU or"
        " the CPU.",
        cell(names.STEPS_ON_ONE, at_most(0), "steps on one device"),
        "It needs two, if not a step runs on fewer.",
    ),
)

UNMEASURED = (
    Unmeasured(
        "000:435",
        "To implement parallelism anew for each model is not interesting.",
        "It is a matter of taste.",
    ),
    Unmeasured(
        "000:506",
        "Apart from splitting and adding up, the training code is much like that of earlier"
        " chapters.",
        "How alike two programs are is a matter of judgement.",
    ),
)
