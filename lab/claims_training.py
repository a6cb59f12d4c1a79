"""What the notes claim about training on several devices (book 13.5, 13.6), each with the rule that decides it."""

from collections.abc import Sequence

from lab.claims import (
    AS_FAST,
    AS_LONG,
    FASTER,
    POINTS,
    Claim,
    Column,
    Estimate,
    Metric,
    NotTestableError,
    Rule,
    Text,
    as_in_the_notes,
    at_least,
    at_most,
    median,
    near,
    on_two_gpus,
    ratio,
    real_images,
    speedup,
    times_ratio,
    value,
)
from lab.stats import SMALLEST_EFFECT

PARTS = ("load", "transfer", "forward", "backward", "all-reduce", "update")  # as lab.waterfall, which needs torch
BOOK, RESIDENT = "the book's loader", "resident bytes"  # as lab.inputs, which needs torch
MILLIONTHS = Text("millionths, the most a weight differs", "× 10⁻⁶（权重的最大差别）")
OF_GRADIENT, ACCURACY = Text("% of the gradient", "%（相对于梯度的长度）"), Text("% accuracy", "% 精度")
ROUNDING_MILLIONTHS = 12  # a hundred roundings of a float32 around 1
BOOK_ACCURACY = 83.5  # percent: the book prints 0.83, its Chinese edition 0.84
BOOK_WOBBLE = 3.0  # points: half of the 5.9 by which the last four epochs of the book's own curve differ
SAME_ACCURACY = 2.0  # points: the book prints two digits and calls 0.83 and 0.84 the same
EVERY_IMAGE = 60_000


def from_one_device(variant: str) -> Rule:
    """Return the rule that a variant's weights are those of training on one device, but for rounding."""
    return value(
        Metric("replicas", f"{variant}_from_one_device_millionths"), at_most(ROUNDING_MILLIONTHS), MILLIONTHS
    )  # fmt: skip


def apart(variant: str) -> Rule:
    """Return the rule that replicas are equal to the bit."""
    return value(Metric("replicas", f"{variant}_apart_millionths"), near(0, 0), MILLIONTHS)


def part(net: str, name: str, way: str = RESIDENT) -> Column:
    """Return the read of a part of a training step, one number a step."""
    return Column("bench_input", "value", {"demo": f"step, {way}", "arm": f"{net}: {name}"})


def step_over_step(*parts: Sequence[float]) -> Estimate:
    """Return the time of one way's steps over another's, each given by its PARTS."""
    old, new = (
        [sum(each) for each in zip(*half, strict=True)] for half in (parts[: len(PARTS)], parts[len(PARTS) :])
    )
    return times_ratio(old, new)


def idle_share(num_devices: float, evaluation: Sequence[float], *parts: Sequence[float]) -> Estimate:
    """Return the percent of an epoch for which the other devices wait while one evaluates.

    `evaluation` is that on all devices, per training step; on one of them it takes `num_devices` times as long.
    """
    if num_devices < 2:
        raise NotTestableError("there is one device, so none waits for it")
    steps = [sum(each) for each in zip(*parts, strict=True)]
    alone = [num_devices * t for t in evaluation]
    return median([100 * e / (step + e) for step, e in zip(steps, alone, strict=True)])


def compute_over_sync(forward: Sequence[float], backward: Sequence[float], sync: Sequence[float]) -> Estimate:
    """Return the time of forward and backward passes over that of the all-reduce."""
    return times_ratio([f + b for f, b in zip(forward, backward, strict=True)], sync)


def accuracy_gap(run: str, other: str) -> list[Column]:
    """Return the reads of two runs' test accuracies by epoch."""
    return [Column(f"train/{name}", "test_accuracy") for name in (run, other)]


def median_gap(accuracies: Sequence[float], others: Sequence[float]) -> Estimate:
    """Return by how many points the first run is more accurate, the median over the epochs."""
    return median([100 * (a - b) for a, b in zip(accuracies, others, strict=True)])


LENET: dict[str, str | float] = {
    "net": "lenet", "precision": "fp32", "train_images": EVERY_IMAGE, "batch_size": 256, "lr": 0.2,
    "num_epochs": 10,
}  # fmt: skip
RESNET: dict[str, str | float] = {
    "net": "resnet18",
    "precision": "fp32",
    "train_images": EVERY_IMAGE,
    "num_epochs": 10,
}
ONE_LENET, TWO_LENETS = (
    (*real_images(f"train/lenet_{n}gpu"), *as_in_the_notes(f"lenet_{n}gpu", num_devices=n, **LENET)) for n in (1, 2)
)
ONE_RESNET = (*real_images("train/resnet18_1gpu"),
              *as_in_the_notes("resnet18_1gpu", num_devices=1, batch_size=256, lr=0.1, **RESNET))  # fmt: skip
TWO_RESNETS = as_in_the_notes("resnet18_2gpu", num_devices=2, batch_size=512, lr=0.2, **RESNET)
CONTROL = as_in_the_notes("resnet18_1gpu_b512", num_devices=1, batch_size=512, lr=0.2, **RESNET)

CLAIMS = (
    Claim(
        "D2b", "13.5", "000",
        Text("Batch norm must be adapted: over several devices it computes something else.",
             "批量规范化必须调整：在多个设备上它计算的不是同一个东西。"),
        Text("Change of ResNet-18's gradient when a batch is split over two devices, relative to its length.",
             "把一个批量分到两个设备上时，ResNet-18 梯度的相对变化。"),
        value(Metric("replicas", "resnet_18_with_batch_norm_gradient_change_percent"), at_least(1), OF_GRADIENT),
        "Without batch norm rounding changes about 0.00001 %: a whole percent is no rounding.",
    ),
    Claim(
        "D5", "13.5", "000, 004",
        Text("Moving the parameters to each device gives it parameters of its own.",
             "把参数移到每个设备，每个设备就有了自己的一份参数。"),
        Text("Weights after training replicas made without a copy, on CPU devices, against one device.",
             "在 CPU 设备上用未拷贝的副本训练后，权重与单设备训练相比的差别。"),
        from_one_device("replicas_without_a_copy"),
        "A hundred roundings of a float32. Where the device is the parameters' own, moving copies nothing.",
    ),
    Claim(
        "D6a", "13.5", "000, 002, 004",
        Text("All-reduce in place adds up all gradients and gives the sum to every device.",
             "原地写入的 all-reduce 把所有梯度相加，并广播到每个设备。"),
        Text("Largest difference between replicas' weights after training by hand.",
             "手工实现的训练之后，各副本权重之间的最大差别。"),
        apart("in_place_copies_the_book"),
        "Copies of one sum are equal to the bit.",
    ),
    Claim(
        "D6b", "13.5", "001",
        Text("Note 001's all-reduce, which assigns the sum to a list's entries, gives it to every device.",
             "笔记 001 的 all-reduce 把和赋给列表元素，从而把它传给每个设备。"),
        Text("Largest difference between replicas' weights after training with it.",
             "用它训练之后，各副本权重之间的最大差别。"),
        apart("all_reduce_rebinds"),
        "Copies of one sum are equal to the bit.",
    ),
    Claim(
        "D10", "13.5", "000",
        Text("Evaluating on one device is inefficient.", "只在一个设备上评估是低效的。"),
        Text("Share of a LeNet epoch for which the other devices wait for the evaluation, data resident.",
             "数据常驻内存时，其他设备等待评估的时间占 LeNet 一个周期的比例。"),
        Rule([Metric("bench_input", "num_devices"),
              Column("bench_input", "value", {"demo": "evaluation", "arm": "LeNet"}),
              *[part("LeNet", name) for name in PARTS]],
             idle_share, at_least(100 * SMALLEST_EFFECT), Text("% of the time", "% 的时间")),
        "“Inefficient”: more than the 2 % below which no difference counts.",
    ),
    Claim(
        "D11", "13.5", "000, 002",
        Text("LeNet on one device, batch 256 and rate 0.2, ends at an accuracy of 0.83 to 0.84.",
             "单个设备、批量大小 256、学习率 0.2 时，LeNet 最终精度为 0.83 到 0.84。"),
        Text("Test accuracy after ten epochs, one run.", "十个周期后的测试精度（一次运行）。"),
        value(Metric("train/lenet_1gpu", "test_accuracy_percent"), near(BOOK_ACCURACY, BOOK_WOBBLE), ACCURACY),
        "Half of the 5.9 points by which the last four epochs of the book's own curve differ.",
        ONE_LENET,
    ),
    Claim(
        "D12a", "13.5", "000, 002, 004",
        Text("Two devices reach the same accuracy as one.", "两个设备达到的精度与一个设备相同。"),
        Text("Difference of the test accuracies, the median over ten epochs.", "测试精度之差，十个周期的中位数。"),
        Rule(accuracy_gap("lenet_2gpu", "lenet_1gpu"), median_gap, near(0, SAME_ACCURACY), POINTS),
        "The book prints two digits and calls 0.83 and 0.84 the same: under two points.",
        (*ONE_LENET, *TWO_LENETS),
    ),
    Claim(
        "D12b", "13.5", "000, 002, 004",
        Text("The algorithm is the same on several devices.", "多个设备上的算法与单设备相同。"),
        Text("Weights after training by hand on two devices, with the all-reduce in place, against one device.",
             "用原地 all-reduce 在两个设备上训练后，权重与单设备训练相比的差别。"),
        from_one_device("in_place_copies_the_book"),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "D12c", "13.5", "001",
        Text("The algorithm is the same on several devices, with note 001's all-reduce.",
             "采用笔记 001 的 all-reduce 时，多个设备上的算法与单设备相同。"),
        Text("Weights after training by hand on two devices, with that all-reduce, against one device.",
             "用该 all-reduce 在两个设备上训练后，权重与单设备训练相比的差别。"),
        from_one_device("all_reduce_rebinds"),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "D12d", "13.5", "000, 002, 004",
        Text("Two devices are no faster than one for LeNet: it is too small.",
             "对 LeNet 来说两个设备并不比一个快：模型太小。"),
        Text("Time of a step on one worker over that on two of equal threads each, by ddp, in turn.",
             "轮流测量：一个进程与两个进程（每个线程数相同，ddp）的每步时间之比。"),
        ratio("bench_training", "lenet_2workers_speedup", at_most(1 + SMALLEST_EFFECT)),
        "“No faster”: the whole interval up to 1.02.",
    ),
    Claim(
        "G9", "13.7", "001",
        Text("A step on n devices with b images each is a step on one device with n · b.",
             "n 个设备各取 b 个样本的一步，等价于单设备取 n · b 个样本的一步。"),
        Text("Weights after steps on two shards of uneven size, against the whole batches on one device.",
             "在两个大小不等的分片上训练若干步后，权重与单设备用整个批量训练相比的差别。"),
        from_one_device("in_place_copies_the_book"),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "G12b", "13.7", "001",
        Text("Loading data efficiently matters for training.", "高效的数据读取对训练很重要。"),
        Text("LeNet's step with the notes' loader over the step with resident images.",
             "LeNet 每步时间：使用笔记的读取器与数据常驻内存之比。"),
        Rule([part("LeNet", name, way) for way in (BOOK, RESIDENT) for name in PARTS], step_over_step, FASTER,
             AS_LONG),
        "“Matters”: the whole interval over 1.02.",
    ),
    Claim(
        "E3", "13.6", "000, 002, 003",
        Text("The four steps that do for LeNet do for ResNet-18: devices compute the gradient that one would.",
             "对 LeNet 有效的四个步骤同样适用于 ResNet-18：多个设备算出与单设备相同的梯度。"),
        Text("Change of ResNet-18's gradient when a batch is split over two devices, relative to its length.",
             "把一个批量分到两个设备上时，ResNet-18 梯度的相对变化。"),
        value(Metric("replicas", "resnet_18_with_batch_norm_gradient_change_percent"), at_most(0.1), OF_GRADIENT),
        "Far more than rounding, which changes LeNet's by about 0.00001 %.",
    ),
    Claim(
        "E4", "13.6", "000, 002, 003",
        Text("ResNet-18 on one device, batch 256 and rate 0.1, ends at an accuracy of 0.91.",
             "单个设备、批量大小 256、学习率 0.1 时，ResNet-18 最终精度为 0.91。"),
        Text("Test accuracy after ten epochs, one run.", "十个周期后的测试精度（一次运行）。"),
        value(Metric("train/resnet18_1gpu", "test_accuracy_percent"), near(91, SAME_ACCURACY), ACCURACY),
        "The book prints 0.90 to 0.93 for this recipe: two points.",
        ONE_RESNET,
    ),
    Claim(
        "E5a", "13.6", "000, 002",
        Text("Two GPUs train ResNet-18 faster than one.", "两块 GPU 训练 ResNet-18 比一块快。"),
        Text("Seconds per epoch on one GPU over two, both at batch 512 and rate 0.2, epoch by epoch.",
             "批量大小 512、学习率 0.2 时，一块与两块 GPU 每个周期的时间之比。"),
        speedup(Column("train/resnet18_1gpu_b512", "seconds"), Column("train/resnet18_2gpu", "seconds"), FASTER,
                AS_FAST),
        "“Faster”: the whole interval over 1.02. The notes lack the run on one GPU at this batch.",
        (*on_two_gpus("train/resnet18_2gpu"), *TWO_RESNETS, *CONTROL),
    ),
    Claim(
        "E5b", "13.6", "000, 002",
        Text("Two devices at twice the batch and rate learn as well as one.",
             "两个设备用两倍的批量和学习率，学习效果与一个设备相同。"),
        Text("Accuracy on two devices (512, 0.2) less that on one (256, 0.1), the median over the epochs.",
             "两个设备（512，0.2）与一个设备（256，0.1）的精度之差，各周期的中位数。"),
        Rule(accuracy_gap("resnet18_2gpu", "resnet18_1gpu"), median_gap, at_least(-SAME_ACCURACY), POINTS),
        "At most two points less, as for LeNet. The book's own runs print 0.73 against 0.91.",
        (*ONE_RESNET, *TWO_RESNETS),
    ),
    Claim(
        "E5c", "13.6", "000, 002",
        Text("ResNet-18 computes far longer than it synchronises.", "ResNet-18 的计算时间远大于同步时间。"),
        Text("Forward and backward passes over the all-reduce, in a step on two GPUs.",
             "两块 GPU 的一步中，前向与反向传播同 all-reduce 的时间之比。"),
        Rule([part("ResNet-18", name) for name in ("forward", "backward", "all-reduce")], compute_over_sync,
             at_least(10), AS_LONG),
        "“Far”: an order of magnitude.",
        on_two_gpus("bench_input"),
    ),
)  # fmt: skip
