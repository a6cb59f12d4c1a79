"""Copy each result to the CPU while the GPU computes the next one."""

import time

import torch


def seconds(overlap: bool) -> float:
    computing = torch.cuda.current_stream()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for host in hosts:
        Y = X @ X
        # an event: copy no earlier than Y is ready
        copying.wait_stream(computing)
        with torch.cuda.stream(copying):
            host.copy_(Y, non_blocking=True)
        Y.record_stream(copying)  # Y's memory is in use
        if not overlap:
            computing.wait_stream(copying)
    copying.synchronize()  # only now may you read the hosts
    return time.perf_counter() - start


if torch.cuda.is_available():
    X = torch.randn(4000, 4000, device="cuda")
    # pinned memory, allocated once
    hosts = [torch.empty(4000, 4000).pin_memory() for _ in range(10)]
    copying = torch.cuda.Stream()
    seconds(overlap=True)  # warm up
    for overlap in (False, True):
        print(f"overlap {overlap}: {seconds(overlap):.3f} s")
else:
    print("no GPU: nothing to copy from")
