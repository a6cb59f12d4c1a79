"""What the notes claim about what `replicas` measures, and the rules that decide."""

from lab.claims.needs import REAL_IMAGES, TWO_GPUS, Need
from lab.claims.rules import Range, Rule, at_most, near
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured
from lab.results.stats import PERCENT

ROUNDING = 12e-6  # a hundred roundings of a float32 around 1
BOOK_ACCURACY = 83.5  # percent: the book prints 0.83, its Chinese edition 0.84
# points: half of the 5.9 by which the last four epochs of the book's own curve differ
BOOK_WOBBLE = 3.0
SAME_ACCURACY = 2.0  # points: the book prints two digits and calls 0.83 and 0.84 the same
NUM_GRADIENTS = 8  # LeNet's


def recipe() -> tuple[Need, ...]:
    """The notes' recipe: ten epochs of all images, on two devices where there are several."""
    remedy = "the profile `study` trains as the notes do"
    wanted = (("accuracy_epochs", 10), ("accuracy_train_images", 60_000), ("num_devices", 2))
    return (*REAL_IMAGES, *(Need("the notes' recipe", n, (v,), remedy) for n, v in wanted))


CLAIMS = (
    Claim(
        "C1b",
        "13.3",
        Kind.ASKED,
        "000:185",
        "None of the notes' three programs on automatic parallelism runs without a GPU.",
        "How many of their three programs, each reduced to what it asks of its devices, run in a"
        " process that sees no GPU.",
        Rule("parallel_programs_that_run", near(0, 0)),
        "None. The first takes the second of all devices by its number, which one GPU does not"
        " give either; the copies would do with one.",
    ),
    Claim(
        "G12n",
        "13.5",
        Kind.SAID,
        "001:466",
        "Without an Nvidia GPU part of the code does not run.",
        "How many of the notes' 12 programs that compute on a device, each reduced to what it asks"
        " of its devices, stop in a process that sees no GPU.",
        Rule("programs_that_stop", Range(1, 11)),
        "“Part”: some of them and not all.",
    ),
    Claim(
        "D5",
        "13.5",
        Kind.ASKED,
        "000:313-320 004:42-54",
        "Also on a CPU, .to(device) gives each replica its own parameters.",
        "LeNet in float64 from He's weights at rate 0.02: weights after training replicas that were"
        " made by .to on CPU devices, against one device.",
        Rule("aliasing_from_one_device", at_most(ROUNDING)),
        "A hundred roundings of a float32. The notes move parameters to GPUs, which copies; where"
        " they are already, `.to` copies nothing, and the all-reduce adds the one shared gradient"
        " to itself.",
        front=Front(
            6,
            "On a CPU, the notes' `.to(device)` copies nothing, so all replicas "
            "share their weights: a short training leaves a weight off by up to "
            "{number}.",
        ),
    ),
    Claim(
        "D5b",
        "13.5",
        Kind.SAID,
        "000:328",
        "Before anything is computed, the parameters' gradients are zero.",
        "How many of LeNet's eight gradients are tensors of zeros after `get_params`.",
        Rule("gradients_of_zeros", near(NUM_GRADIENTS, 0)),
        "All eight. There are none: torch has None until the first backward pass.",
    ),
    Claim(
        "D6a",
        "13.5",
        Kind.SAID,
        "000:328 002:75",
        "All-reduce in place adds up all gradients and gives the sum to every device.",
        "LeNet in float64 from He's weights at rate 0.02: largest difference between replicas'"
        " weights after training by hand.",
        Rule("in_place_apart", near(0, 0)),
        "Copies of one sum are bit-for-bit identical.",
    ),
    Claim(
        "D6b",
        "13.5",
        Kind.SAID,
        "001:527",
        "Note 001's all-reduce, which assigns the sum to a list's entries, gives it to every"
        " device.",
        "LeNet in float64 from He's weights at rate 0.02: largest difference between replicas'"
        " weights after training with it. From the notes' weights, which hardly move in so few"
        " steps, it shows less.",
        Rule("rebinding_apart", near(0, 0)),
        "Copies of one sum are bit-for-bit identical. Assigning to an entry changes the list, and"
        " only the first device's tensor.",
        front=Front(
            1,
            "Note 001's all-reduce has a silent bug: it leaves the copies of "
            "LeNet different, by up to {number} in a weight after a short "
            "training. No error appears.",
        ),
    ),
    Claim(
        "D6i",
        "13.5",
        Kind.SAID,
        "000:310",
        "Data parallelism needs the parameters to be summed over the devices.",
        "LeNet in float64 from He's weights at rate 0.02. Each replica takes one step by its own"
        " gradient, then the parameters are summed: their distance from one device's weights,"
        " relative to the length of these.",
        Rule("parameters_summed_percent", at_most(0.1)),
        "Within a thousandth, as with the sum of gradients (D12b). A sum of parameters also adds up"
        " the weights that the replicas started from.",
    ),
    Claim(
        "D7a",
        "13.5",
        Kind.SAID,
        "000:350 001:545 002:5",
        "A batch is spread evenly: of two devices each gets half of the 4 x 5 matrix.",
        "Share of its rows on the fuller of two devices, split by what torch's scatter calls.",
        Rule("fuller_device_percent", near(50, 0)),
        "Half. The scatter itself takes GPUs only; it splits by `chunk`.",
    ),
    Claim(
        "D10a",
        "13.5",
        Kind.ASKED,
        "004:133",
        "Note 004's training, whose cell shows no run number, prints its accuracy at the end.",
        "Whether Python formats a number by `.2f` with a blank after it, as the note's last line"
        " has it.",
        Rule("accuracies_printed", near(1, 0)),
        "It raises a ValueError or it does not.",
    ),
    Claim(
        "D11",
        "13.5",
        Kind.PRINTED,
        "book:13.5",
        "LeNet on one device, batch 256 and rate 0.2, ends at a test accuracy of 0.83 or 0.84.",
        "Test accuracy after ten epochs, the median over seeds.",
        Rule("one_device_accuracy_percent", near(BOOK_ACCURACY, BOOK_WOBBLE), PERCENT),
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
        Rule("in_place_over_one_device_points", near(0, SAME_ACCURACY)),
        "The book prints two digits and calls 0.83 and 0.84 the same: under two points.",
        recipe(),
    ),
    Claim(
        "D12b",
        "13.5",
        Kind.SAID,
        "000:427",
        "Without batch norm the number of devices changes nothing in the algorithm.",
        "LeNet in float64 from He's weights at rate 0.02: weights after steps by hand on shards of"
        " uneven size, with the all-reduce in place, against the whole batches on one device.",
        Rule("in_place_from_one_device", at_most(ROUNDING)),
        "A hundred roundings of a float32: sums in another order. In float32 a rounding may turn a"
        " hidden unit on or off within tens of steps, and from there on runs part.",
    ),
    Claim(
        "D12e",
        "13.5",
        Kind.ASKED,
        "001:527-533 001:596-597",
        "With note 001's all-reduce, the replica that it evaluates is as accurate as one device.",
        "Its test accuracy after ten epochs on two devices, less that on one, by seed.",
        Rule("rebinding_over_one_device_points", near(0, SAME_ACCURACY)),
        "As for the all-reduce in place: under two points.",
        recipe(),
    ),
    Claim(
        "G9",
        "13.7",
        Kind.SAID,
        "001:442 000:261",
        "Synchronous SGD on n devices with b images each is SGD on one device with n · b: also for"
        " the notes' ResNet-18.",
        "Change of the first gradient of ResNet-18 when a batch is split over two devices (4 images"
        " on each in the profile `laptop`, 64 in `study`), relative to its length, the median over"
        " seeds. Each device takes batch norm's statistics from its own images.",
        Rule("batch_norm_gradient_change_percent", at_most(0.1)),
        "“Is”: within a thousandth, which rounding stays far below; LeNet, which has no batch norm,"
        " stays within it (D12b). So batch norm has to be adapted, as 000:261 says.",
        front=Front(
            4,
            "Splitting a batch over two devices is not the same SGD if the "
            "network has batch norm: ResNet-18's first gradient changes by "
            "{number}% of its length.",
        ),
    ),
    Claim(
        "E3e",
        "13.6",
        Kind.ASKED,
        "000:499-504 000:542",
        "The four things that the notes list keep replicas one network also with batch norm.",
        "Largest difference between the running statistics of two ResNet-18 replicas after two"
        " steps.",
        Rule("statistics_apart", near(0, 0)),
        "Bit-for-bit identical. No all-reduce of gradients touches them, so it matters which"
        " replica is evaluated.",
        front=Front(
            5,
            "The notes' four steps do not keep the copies of a network with "
            "batch norm equal: after two steps, running statistics of ResNet-18 "
            "differ by up to {number}.",
        ),
    ),
    Claim(
        "E3f",
        "13.6",
        Kind.SAID,
        "000:435",
        "The code of the concise section needs two GPUs at least.",
        "How many of its two calls of the training, for one GPU and for two, each reduced to a"
        " small step, run in a process that sees no GPU.",
        Rule("concise_calls_that_run", near(0, 0)),
        "None. But nn.DataParallel without a GPU is the net itself. Note 003 trains on one GPU"
        " (003:59, 003:94).",
    ),
    Claim(
        "E3g",
        "13.6",
        Kind.SAID,
        "000:506",
        "The concise section computes its accuracy in parallel.",
        "On how many of two GPUs the net runs while nn.DataParallel computes an accuracy.",
        Rule("evaluating_gpus", near(2, 0)),
        "Both.",
        (
            Need(
                TWO_GPUS,
                "two_devices",
                ("cuda",),
                "`invoke repro` on a machine with two measures it",
            ),
        ),
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
