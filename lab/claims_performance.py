"""What the notes claim about compilers, asynchrony, parallelism and hardware (book 13.1 to 13.4), with rules."""

from collections.abc import Sequence

from lab.claims import (
    AS_FAST,
    AS_LONG,
    FASTER,
    Claim,
    Column,
    Estimate,
    Metric,
    NotTestableError,
    Range,
    Rule,
    Text,
    at_least,
    at_most,
    near,
    on_gpu,
    on_own_devices,
    on_two_gpus,
    point,
    ratio,
    samples,
    speedup,
    times_ratio,
    value,
)
from lab.stats import SMALLEST_EFFECT

COMPILED = ("torchscript_deprecated", "torchscript_frozen_deprecated", "torchcompile", "torchexport",
            "aotinductor")  # fmt: skip
EAGER, SCRIPT = "eager", "TorchScript (deprecated)"  # as lab.compiled, which needs torch
DIFFERENCE = Text("difference of a logit", "的 logit 差别")
SAME_OUTPUT = 1e-4  # logits: the largest difference that rounding in another order explains, as lab.compiled says
BOOK_CALLS = 1000  # that the notes time
BOOK_SIZE_KIB = 651  # of the saved network, as the book's notebook prints it
BOOK_OVERLAP = "the book's non_blocking, one stream"  # as lab.overlap, which needs torch
LONGER, BOTH, CURRENT = ("products, second job longer", "together, both waited for",
                         "together, current GPU waited for")  # fmt: skip


def arm(stage: str, demo: str, name: str, column: str = "value", **more: str) -> Column:
    """Return the read of an arm's samples."""
    return Column(stage, column, {"demo": demo, "arm": name, **more})


def thousand_calls(
    first: Sequence[float], other_first: Sequence[float], calls: Sequence[float], other_calls: Sequence[float]
) -> Estimate:
    """Return the time of 1000 calls over another form's, from the first calls (one sample) and later ones."""

    def totals(first: Sequence[float], later: Sequence[float]) -> list[float]:
        return [sum(first) + (BOOK_CALLS - len(first)) * t for t in later]

    return times_ratio(totals(first, calls), totals(other_first, other_calls))


def share_faster(*ratios: float) -> Estimate:
    """Return the share of ratios (median, low and high of each) over 1.02 in percent: surely, and possibly."""
    low, median, high = (
        100 * sum(r > 1 + SMALLEST_EFFECT for r in ratios[i::3]) / len(COMPILED) for i in (1, 0, 2)
    )
    return Estimate(median, low, high)


def farthest(numbers: Sequence[float], target: float = 0.0) -> Estimate:
    """Return the largest distance of any number from `target`."""
    return point(max(abs(number - target) for number in numbers))


def most_over_least(x: Sequence[float], numbers: Sequence[float]) -> Estimate:
    """Return the samples at the largest x over those at the smallest."""
    if min(x) == max(x):
        raise NotTestableError("measured at one setting only, so there is nothing to compare; it needs two cores")
    least, most = ([n for at, n in zip(x, numbers, strict=True) if at == end] for end in (min(x), max(x)))
    return times_ratio(most, least)


def over_the_most(numbers: Sequence[float], x: Sequence[float], others: Sequence[float]) -> Estimate:
    """Return samples over those of another series at its largest x."""
    return times_ratio(numbers, [n for at, n in zip(x, others, strict=True) if at == max(x)])


CLAIMS = (
    Claim(
        "A3", "13.1", "000",
        Text("One thread of Python is what holds back a fast GPU server.",
             "单线程的 Python 是高速 GPU 服务器的瓶颈。"),
        Text("Speed of a CUDA graph of the network, which runs without Python, over eager, at batch 1.",
             "批量大小为 1 时，不经 Python 的 CUDA 图相对即时执行的速度。"),
        ratio("bench_compile", "torchcompile_cuda_graph_speedup", at_least(2)),
        "A bottleneck takes half of the time or more: without it a call is twice as fast.",
        on_gpu("bench_compile"),
    ),
    Claim(
        "A4", "13.1", "000",
        Text("Compiling leaves the network's result unchanged.", "编译不改变网络的计算结果。"),
        Text("Largest difference of any logit from eager's, over all forms and batch sizes.",
             "所有形式与批量大小下，输出与即时执行相比的最大差别。"),
        Rule([arm("bench_compile", "difference", "*")], farthest, at_most(SAME_OUTPUT), DIFFERENCE),
        "Rounding in another order of operations may differ by this much in float32.",
    ),
    Claim(
        "A6a", "13.1", "000",
        Text("TorchScript makes the network faster.", "TorchScript 使网络更快。"),
        Text("Eager over TorchScript, gradients on in both as in the notes, after warm-up, at batch 1.",
             "批量大小为 1，两者均如笔记那样保留梯度，热身之后，即时执行与 TorchScript 的时间之比。"),
        ratio("bench_compile", "book_torchscript_over_eager", FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "A6b", "13.1", "000",
        Text("1000 calls, timed as in the notes, show that TorchScript is faster.",
             "像笔记那样计时的 1000 次调用表明 TorchScript 更快。"),
        Text("1000 calls counted from the first, as in the notes: eager over TorchScript.",
             "如笔记那样从第一次算起的 1000 次调用：即时执行与 TorchScript 的时间之比。"),
        Rule([arm("bench_compile", "first_calls", EAGER), arm("bench_compile", "first_calls", SCRIPT),
              arm("bench_compile", "call", EAGER, x="1.0"), arm("bench_compile", "call", SCRIPT, x="1.0")],
             thousand_calls, FASTER, AS_FAST),
        "“Faster”: the whole interval over 1.02. The first calls are one sample.",
    ),
    Claim(
        "A6c", "13.1", "000",
        Text("What TorchScript gains comes from compiling.", "TorchScript 的提升来自编译。"),
        Text("Eager without gradients over TorchScript, at batch 1: what no_grad gains is not the compiler's.",
             "批量大小为 1，不记录梯度的即时执行与 TorchScript 的时间之比：关闭梯度的收益不算编译的功劳。"),
        ratio("bench_compile", "torchscript_deprecated_speedup", FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "A6d", "13.1", "000",
        Text("Compiling makes the notes' network faster, with today's compiler too.",
             "用如今的编译器编译，同样能使笔记中的网络更快。"),
        Text("Eager without gradients over torch.compile, at batch 1.",
             "批量大小为 1，不记录梯度的即时执行与 torch.compile 的时间之比。"),
        ratio("bench_compile", "torchcompile_speedup", FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "A7a", "13.1", "000",
        Text("A compiled network can be saved and computes the same elsewhere.",
             "编译后的网络可以保存，在别处运行结果相同。"),
        Text("Largest difference of any saved form's logits, loaded in a new process.",
             "各种保存形式在新进程中载入后，输出的最大差别。"),
        Rule([arm("bench_compile", "saved_difference", "*")], farthest, at_most(SAME_OUTPUT), DIFFERENCE),
        "Rounding in another order of operations may differ by this much in float32.",
    ),
    Claim(
        "A7b", "13.1", "000",
        Text("Compiled code is usually faster.", "编译后的代码通常更快。"),
        Text("Share of five compiled forms that are faster than eager without gradients, at batch 1.",
             "批量大小为 1 时，五种编译形式中比不记录梯度的即时执行更快的比例。"),
        Rule([Metric("bench_compile", f"{form}_speedup{end}")
              for form in COMPILED for end in ("", "_low", "_high")],
             share_faster, at_least(50), Text("% of the forms", "% 的编译形式")),
        "“Usually”: half of them or more.",
    ),
    Claim(
        "A7c", "13.1", "000",
        Text("The saved network takes 651 KiB.", "保存后的网络为 651 KiB。"),
        Text("Size of the TorchScript file.", "TorchScript 文件的大小。"),
        samples(arm("bench_compile", "saved_size", SCRIPT), near(BOOK_SIZE_KIB, 0.01 * BOOK_SIZE_KIB),
                Text("KiB", "KiB")),
        "The same network in the same format: 1 % for what versions add.",
    ),
    Claim(
        "B1", "13.2", "000",
        Text("torch's products appear several orders of magnitude faster than numpy's.",
             "torch 的矩阵乘法看起来比 numpy 快几个数量级。"),
        Text("numpy over torch as the notes time it, without waiting.",
             "如笔记那样不等待计算完成，numpy 与 torch 的时间之比。"),
        ratio("bench_async", "book_claims", at_least(100)),
        "“Several orders”: two at least.",
        on_gpu("bench_async"),
    ),
    Claim(
        "B2", "13.2", "000",
        Text("Calls return before their work is done: waiting for the GPU shows it.",
             "调用在计算完成之前就已返回：等待 GPU 完成就能看出来。"),
        Text("Ten products waited for, over ten not waited for.", "等待完成与不等待时十次乘法的时间之比。"),
        speedup(arm("bench_async", "book", "torch, waited for"),
                arm("bench_async", "book", "torch, not waited for"), FASTER, AS_LONG),
        "“Shows”: longer by more than 2 %.",
        on_gpu("bench_async"),
    ),
    Claim(
        "B3", "13.2", "000",
        Text("Python hands an operation over and goes on before the result is there.",
             "Python 把运算交给后端之后，不等结果就继续执行。"),
        Text("Time until a product's call returns over the time until its result is there, at the largest size.",
             "最大尺寸的矩阵乘法，调用返回的时间与结果可用的时间之比。"),
        ratio("bench_async", "return_over_finish", at_most(0.9), Text("of the time", "倍完成用时")),
        "“Before”: at least a tenth of the time earlier. A CPU's threads have no queue to hand over to.",
    ),
    Claim(
        "B4", "13.2", "000",
        Text("x · y + 2 of ones is 3 however it is queued: the back end keeps dependencies.",
             "无论如何排队，x · y + 2（均为 1）都得 3：后端保证依赖关系。"),
        Text("Largest distance of the result from 3.", "结果与 3 的最大差距。"),
        Rule([arm("bench_async", "dependencies", "z")], lambda z: farthest(z, 3.0), at_most(0),
             Text("from 3", "的差距（与 3 相比）")),
        "Small integers are exact in float32.",
    ),
    Claim(
        "C2", "13.3", "000",
        Text("A run to warm up is needed before times are taken.", "计时之前需要先热身运行一次。"),
        Text("The first product of a process over later ones.", "进程中第一次乘法与之后乘法的时间之比。"),
        value(Metric("bench_async", "no_warm_up_over_steady"), at_least(2), AS_LONG),
        "One sample, so that only a factor of two counts.",
    ),
    Claim(
        "C3a", "13.3", "000",
        Text("Two jobs on two devices together take less time than one after the other.",
             "两个设备上的两个任务同时运行，比先后运行用时更少。"),
        Text("One after the other over together, with large products.",
             "较大的矩阵乘法：先后运行与同时运行的时间之比。"),
        ratio("bench_parallel", "speedup", FASTER),
        "“Less”: the whole interval over 1.02.",
        on_own_devices("bench_parallel"),
    ),
    Claim(
        "C3b", "13.3", "000",
        Text("The framework runs two GPUs at the same time by itself, with nothing in the program that says so.",
             "无需任何额外代码，框架会自动让两块 GPU 同时工作。"),
        Text("One after the other over together, on two GPUs.", "两块 GPU 上先后运行与同时运行的时间之比。"),
        ratio("bench_parallel", "speedup", FASTER),
        "“At the same time”: the whole interval over 1.02. Virtual devices are given threads by the stage.",
        on_two_gpus("bench_parallel"),
    ),
    Claim(
        "C3c", "13.3", "000",
        Text("torch.cuda.synchronize() without an argument waits for all GPUs.",
             "不带参数的 torch.cuda.synchronize() 会等待所有 GPU。"),
        Text("Both GPUs waited for, over the notes' wait, with a longer job on the second.",
             "第二块 GPU 任务更长时，等待两块 GPU 与笔记中的等待所得时间之比。"),
        speedup(arm("bench_parallel", LONGER, BOTH), arm("bench_parallel", LONGER, CURRENT),
                near(1, SMALLEST_EFFECT), AS_LONG),
        "It waits for all if the times agree within 2 %.",
        on_two_gpus("bench_parallel"),
    ),
    Claim(
        "C4", "13.3", "000",
        Text("Computing everything before copying anything wastes time.", "先算完再全部拷贝是低效的。"),
        Text("Computing then copying, over this machine's best way to do both at once.",
             "先计算后拷贝，与本机同时进行两者的最佳方式的时间之比。"),
        ratio("bench_overlap", "speedup", FASTER),
        "“Wastes”: the whole interval over 1.02.",
    ),
    Claim(
        "C5", "13.3", "000",
        Text("Copying with non_blocking=True overlaps with the products that are still running.",
             "用 non_blocking=True 拷贝可与仍在进行的乘法重叠。"),
        Text("Overlap fraction of the notes' way: 0 for the sum of both, 1 for the longer.",
             "笔记做法的重叠比例：0 表示两者之和，1 表示较长者。"),
        samples(arm("bench_overlap", "overlap", BOOK_OVERLAP), Range(0.1, 1),
                Text("of the possible overlap", "倍最大重叠")),
        "A tenth of what is possible; over 1 it is something else than overlap.",
        on_gpu("bench_overlap"),
    ),
    Claim(
        "G1", "13.4", "001",
        Text("A cache answers far sooner than memory.", "缓存的响应远快于内存。"),
        Text("Time of a dependent load in the largest working set over that in the smallest.",
             "最大工作集与最小工作集中相关加载的时间之比。"),
        Rule([arm("bench_hardware", "latency", "*", "x"), arm("bench_hardware", "latency", "*")],
             most_over_least, at_least(10), AS_LONG),
        "“Far”: an order of magnitude.",
    ),
    Claim(
        "G2", "13.4", "001",
        Text("Reading memory in its order raises a processor's utilisation.", "按内存顺序访问可提高处理器利用率。"),
        Text("Sum of a matrix by columns over by rows.", "按列求和与按行求和的时间之比。"),
        ratio("bench_hardware", "rows_over_columns_speedup", FASTER),
        "“Raises”: the whole interval over 1.02.",
    ),
    Claim(
        "G3", "13.4", "001",
        Text("Several cores compute faster than one.", "多个核比一个核算得快。"),
        Text("Rate of float32 products on all cores over one.", "使用全部核与单核时 float32 矩阵乘法的速率之比。"),
        Rule([arm("bench_hardware", "peak", "float32", name, device_kind="cpu") for name in ("x", "value")],
             most_over_least, FASTER, AS_FAST),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "G4a", "13.4", "001",
        Text("A GPU computes faster than the processor beside it.", "GPU 的计算比同机的 CPU 快。"),
        Text("Rate of float32 products on the GPU over all of the processor's cores.",
             "GPU 与 CPU 全部核的 float32 矩阵乘法速率之比。"),
        Rule([arm("bench_hardware", "peak", "float32", device_kind="cuda*"),
              *[arm("bench_hardware", "peak", "float32", name, device_kind="cpu") for name in ("x", "value")]],
             over_the_most, FASTER, AS_FAST),
        "“Faster”: the whole interval over 1.02.",
        on_gpu("bench_hardware"),
    ),
    Claim(
        "G4b", "13.4", "001",
        Text("A GPU's memory has more bandwidth than the processor's.", "GPU 显存的带宽高于 CPU 内存。"),
        Text("Copies on the GPU over copies by all of the processor's cores, in GB/s.",
             "GPU 与 CPU 全部核的内存拷贝速率之比。"),
        Rule([arm("bench_hardware", "bandwidth", "copy", device_kind="cuda*"),
              *[arm("bench_hardware", "bandwidth", "copy", name, device_kind="cpu") for name in ("x", "value")]],
             over_the_most, FASTER, Text("x the bandwidth", "倍带宽")),
        "“More”: the whole interval over 1.02.",
        on_gpu("bench_hardware"),
    ),
    Claim(
        "G5", "13.4", "001",
        Text("Going back and forth between processor and GPU is to be avoided.",
             "应避免在 CPU 与 GPU 之间来回传输。"),
        Text("A number to the GPU and back, over launching a kernel.",
             "一个数往返 GPU 与启动一个核函数的时间之比。"),
        speedup(arm("bench_hardware", "trip", "to the GPU and back"), arm("bench_hardware", "trip", "launch"),
                FASTER, AS_LONG),
        "“To be avoided”: a trip costs more than the operation it is for.",
        on_gpu("bench_hardware"),
    ),
)  # fmt: skip
