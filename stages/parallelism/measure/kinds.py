"""The kinds of parallelism whose steps are timed, by name."""

from stages.parallelism.measure.data_parallel import DataParallel
from stages.parallelism.measure.names import DATA, PIPELINE, TENSOR
from stages.parallelism.measure.pipeline import in_parts
from stages.parallelism.measure.step import Kind
from stages.parallelism.measure.tensor_parallel import TensorParallel


def timed_kinds(num_micro_batches: int) -> dict[str, Kind]:
    """Data parallelism, a pipeline of so many micro-batches, and tensor parallelism."""
    return {DATA: DataParallel, PIPELINE: in_parts(num_micro_batches), TENSOR: TensorParallel}
