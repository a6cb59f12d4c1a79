"""The numbers derived from bench_input's rows."""

from lab.data.datasets import FASHION_COUNTS
from lab.results.findings import AS_LONG, Finding, Samples, combine, median, ratio
from lab.results.measurements import Results
from stages.bench_input.measure.names import BOOK, NO_WORKERS, RESIDENT, WHOLE

METRICS = ("resident_over_book", "the_books_loader_epoch_s")
EPOCH_IMAGES = FASHION_COUNTS["train"]


def findings(results: Results) -> dict[str, Finding]:
    def seconds(samples: Samples) -> Finding:
        return median(samples, "s", better="less")

    def step_ms(feed: str, part: str = WHOLE) -> Samples:
        return results.samples("step", feed, net="lenet", part=part)

    def computing_ms(feed: str) -> Samples:
        return step_ms(feed, "forward") + step_ms(feed, "backward")

    images, rates = images_of_a_step(results), results.samples("images", BOOK)
    loader = combine(lambda rate: images / rate, rates)  # s
    book, resident, no_workers = (step_ms(feed) for feed in (BOOK, RESIDENT, NO_WORKERS))
    largest = max(results.xs("python", "step"), default=None)
    steps = results.samples("python", "step", largest)
    calls = results.samples("python", "its calls alone")
    return {
        "resident_over_book": ratio(epochs(results, BOOK), epochs(results, RESIDENT)),
        "the_books_loader_epoch_s": seconds(epochs(results, BOOK)),
        "resident_bytes_epoch_s": seconds(epochs(results, RESIDENT)),
        "first_batch_s": seconds(results.samples("first_batch", BOOK) * 1e-3),
        "images_per_s": median(rates, "images/s", better="more"),
        "loader_s": seconds(loader),
        "loader_over_step": ratio(loader, resident * 1e-3, AS_LONG),
        "step_s": seconds(resident * 1e-3),
        "book_step_s": seconds(book * 1e-3),
        "no_workers_step_s": seconds(no_workers * 1e-3),
        "wait_s": seconds(step_ms(BOOK, "load") * 1e-3),
        "load_s": seconds(step_ms(NO_WORKERS, "load") * 1e-3),
        "read_s": seconds(results.samples("preparation", "read") * 1e-3),
        "preprocess_s": seconds(results.samples("preparation", "preprocess") * 1e-3),
        "step_speedup": ratio(book, resident),
        "crowding": ratio(computing_ms(BOOK), computing_ms(NO_WORKERS), AS_LONG),
        "no_workers_step": ratio(no_workers, resident, AS_LONG),
        "calls_percent": median(calls / steps * 100, "% of the time"),
    }


def images_of_a_step(results: Results) -> float:
    """Return the images per step of LeNet; NaN if it was not measured."""
    images = results.xs("step", RESIDENT, net="lenet", part=WHOLE)
    return max(images, default=float("nan"))


def epochs(results: Results, feed: str) -> Samples:
    """Return the seconds per epoch of a feed, extrapolated if it passed only a part."""
    if passed := results.samples("epoch", feed):
        return passed
    return combine(
        lambda ms, rate: ms / 1e3 + EPOCH_IMAGES / rate,
        results.samples("first_batch", feed),
        results.samples("images", feed),
    )
