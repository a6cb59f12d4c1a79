"""What bench_buckets derives from times, and says on the page."""

import pytest

from lab.core.files import write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import for_ranks
from lab.parallel.local_ranks import run_on_ranks
from lab.report.page import Section
from lab.results.measurements import rows_of
from stages.bench_buckets.measure import names, one_rank
from stages.bench_buckets.measure.params import Params
from stages.bench_buckets.page import section as buckets_section
from tests.helpers import edit_params
from tests.made_up import measurements, metrics


def page(folder, kind, without: float | None = None) -> Section:
    made = [m for m in measurements("bench_buckets", kind) if m.x != without]
    write_rows(folder, rows_of(made))
    write_metrics(folder, metrics("bench_buckets", made, kind))
    return buckets_section.section(folder)


@pytest.mark.slow
def test_a_start_measures_every_size_of_both_nets_and_its_model(project):
    """In real ranks; the model's part after the pass is the sums, and exposed is the difference."""
    edit_params({"bench": {"starts": 1, "rounds": 1, "min_sample_ms": 0.1}})
    for net, images in (("lenet", 2), ("resnet18", 1)):
        edit_params({f"bench_buckets.{net}": {"images": images, "bucket_mib": [0.25, 100]}})
    params = load(Params)
    devices = for_ranks([2], params.devices)
    found = run_on_ranks(2, devices, one_rank.measure, devices, params, 0)
    by_place = {(m.demo, m.arm, m.x): m.values[0] for m in found}
    for net, tensors in (("lenet", 8), ("resnet18", 76)):
        step, exposed = (names.of_net(demo, net) for demo in (names.STEP, names.EXPOSED))
        for mib in (0.25, 100):
            for arm in (names.AT_ONCE, names.AT_LAST):
                longer = by_place[step, arm, mib] - by_place[step, names.COMPUTING, 0]
                assert by_place[exposed, arm, mib] == pytest.approx(longer)
        counts = [by_place[names.of_net(names.BUCKETS, net), net, mib] for mib in (0.25, 100)]
        assert counts[0] > counts[1] == 1
        ready = [m for m in found if m.demo == names.of_net(names.READY, net)]
        assert len(ready) == tensors
        assert 0 <= by_place[names.READY_BY_HALF, net, 0] <= 100
