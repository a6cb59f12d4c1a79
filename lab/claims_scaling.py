"""What the notes claim about splitting work over devices, and about large batches (book 13.5, 13.7), with rules."""

from collections.abc import Callable

from lab.claims import (
    FASTER,
    Claim,
    Estimate,
    Metric,
    Rule,
    Text,
    at_least,
    at_most,
    band_ratio,
    on_two_gpus,
    point,
    ratio,
    real_images,
    value,
)

NOTES_BATCH = 256
FORETOLD = 10.0  # percent: within a tenth, a rule of thumb foretells a step
AS_MANY_EPOCHS = Text("x as many epochs", "倍周期数")
KINDS = ("pipeline_2_devices", "tensor_parallel_2_devices")


def moved(replicas: float, *split: float) -> Estimate:
    """Return what the network that is split moves, by the better kind, over what replicas do."""
    return point(min(split) / replicas)


def held(replicas: float, *split: float) -> Estimate:
    """Return what replicas hold over what the network that is split does, by the better kind."""
    return point(replicas / min(split))


def against_replicas(estimate: Callable[..., Estimate], what: str) -> Rule:
    """Return the rule that compares two devices with replicas and with a network that is split over them."""
    reads = [Metric("parallelism", f"{kind}_{what}") for kind in ("data_parallel_2_devices", *KINDS)]
    return Rule(reads, estimate, FASTER, Text("x as many MB", "倍 MB 数"))


def smaller_factor(*factors: float) -> Estimate:
    """Return the smallest of the factors between neighbours of an order."""
    return point(min(factors))


def share_of_communication(fixed_ms: float, us_per_image: float, t2_ms: float, num_devices: float) -> Estimate:
    """Return the share of a step at the notes' batch that is communication, in percent."""
    t1 = fixed_ms + us_per_image / 1e3 * NOTES_BATCH / num_devices
    return point(100 * t2_ms / (t1 + t2_ms))


def epochs(rule: str) -> list[Metric]:
    """Return the reads of the epochs to the target at the notes' batch, with their range over the seeds."""
    return [Metric("convergence", f"{rule}_batch_{NOTES_BATCH}_epochs{end}") for end in ("", "_low", "_high")]


CLAIMS = (
    Claim(
        "G7a", "13.5", "001",
        Text("Splitting the batch makes devices exchange less than splitting the network.",
             "与拆分网络相比，拆分批量使设备之间交换的数据更少。"),
        Text("LeNet, batch 256, two devices: bytes moved by a pipeline or by tensor parallelism, whichever moves"
             " less, over those of data parallelism.",
             "LeNet，批量 256，两个设备：流水线并行与张量并行中移动字节较少者，与数据并行之比。"),
        against_replicas(moved, "moved_mb"),
        "“Less”: more than 2 % between them. Bytes are counted, so there is no interval.",
    ),
    Claim(
        "G7b", "13.5", "001",
        Text("A network that is split takes less memory on each device than replicas of it.",
             "拆分网络时，每个设备占用的内存比各持一份副本更少。"),
        Text("LeNet, batch 256, two devices: MB on the fullest device, data parallelism over the better split.",
             "LeNet，批量 256，两个设备：占用最多的设备的内存，数据并行与较好的拆分方式之比。"),
        against_replicas(held, "device_mb"),
        "“Less”: more than 2 % between them. Parameters, gradients and activations are counted.",
    ),
    Claim(
        "G10a", "13.7", "001",
        Text("A step takes as long as the longer of computing and communicating.",
             "一步所需的时间是计算与通信两者中较长的一个。"),
        Text("Mean error of max(t1, t2) against the measured steps of two processes.",
             "对两个进程的训练步，max(t1, t2) 相对实测时间的平均误差。"),
        value(Metric("scaling", "max_rule_mean_error_percent"), at_most(FORETOLD), Text("% off", "% 误差")),
        "A rule that is off by more than a tenth does not say how long a step takes.",
    ),
    Claim(
        "G10b", "13.7", "001",
        Text("With the notes' batch LeNet computes for longer than it communicates.",
             "以笔记的批量大小，LeNet 的计算时间长于通信时间。"),
        Text("Batch over two devices from which on t1 is longer than t2, gradients summed as in the notes.",
             "按笔记的方式对梯度求和，两个设备上 t1 超过 t2 所需的批量大小。"),
        value(Metric("scaling", "lenet_star_per_tensor_crossing_batch"), at_most(NOTES_BATCH),
              Text("images", "张图像")),
        "The notes choose the batch so that t1 > t2, and train with 256.",
    ),
    Claim(
        "G11a", "13.7", "001",
        Text("A larger batch needs more epochs for the same accuracy.", "批量越大，达到同样精度需要的周期越多。"),
        Text("Epochs to the target accuracy, the largest batch over the smallest, the rate kept; range over seeds.",
             "学习率不变，最大批量与最小批量达到目标精度所需周期数之比（范围为各随机种子）。"),
        ratio("convergence", "fixed_rate_large_batch_penalty", FASTER, AS_MANY_EPOCHS),
        "“More”: every seed by more than 2 %.",
        real_images("convergence"),
    ),
    Claim(
        "G11b", "13.7", "001",
        Text("At very large batches convergence suffers even if the rate is raised with the batch.",
             "批量非常大时，即使学习率随批量提高，收敛仍会变差。"),
        Text("The same with the rate scaled by the batch and warmed up.", "学习率按批量放大并预热，其余同上。"),
        ratio("convergence", "rate_x_batch_warm_up_large_batch_penalty", FASTER, AS_MANY_EPOCHS),
        "“Suffers”: every seed by more than 2 %.",
        real_images("convergence"),
    ),
    Claim(
        "G12a", "13.7", "001",
        Text("Inception computes most per parameter, then ResNet, then AlexNet.",
             "每个参数对应的计算量：Inception 大于 ResNet，ResNet 大于 AlexNet。"),
        Text("The smaller of the two factors between neighbours in training FLOP per byte of parameters, the"
             " closest pair of each (GoogLeNet and Inception v3, ResNet-18 and -50).",
             "相邻两者每参数字节的训练浮点运算数之比中较小的一个，取各族最接近的一对。"),
        Rule([Metric("parallelism", f"ratio_{pair}") for pair in ("inception_over_resnet", "resnet_over_alexnet")],
             smaller_factor, FASTER, Text("x the next one's", "倍于下一个")),
        "An order: each more than 2 % over the next. Counted, on each network's own image size.",
    ),
    Claim(
        "G13", "13.7", "001",
        Text("Communication is what mostly limits training on several devices.",
             "多设备训练的主要瓶颈是通信。"),
        Text("Share of communication in LeNet's step at batch 256, gradients summed as in the notes.",
             "批量 256 时 LeNet 一步中通信所占的比例，梯度按笔记的方式求和。"),
        Rule([Metric("scaling", name) for name in
              ("lenet_fixed_ms", "lenet_us_per_image", "lenet_star_per_tensor_t2_ms", "world_size")],
             share_of_communication, at_least(50), Text("% of a step", "% 的每步时间")),
        "“Mostly”: half of the time. Told from the parts that the stage measures.",
        on_two_gpus("scaling"),
    ),
    Claim(
        "D2a", "13.5", "000",
        Text("A batch that is enlarged for more devices may need a higher rate.",
             "为更多设备增大批量时，可能需要提高学习率。"),
        Text("Epochs to the target accuracy at batch 256, the rate of batch 64 kept, over those with four times the"
             " rate; medians, interval from the ranges over seeds.",
             "批量 256 时，保持批量 64 的学习率与将其放大四倍，达到目标精度所需周期数之比。"),
        Rule([*epochs("fixed_rate"), *epochs("rate_x_batch")], band_ratio, FASTER, AS_MANY_EPOCHS),
        "“Need”: the kept rate takes more than 2 % longer.",
        real_images("convergence"),
    ),
)  # fmt: skip
