"""Copy each result to the CPU while the GPU computes the next one."""

import torch

if torch.cuda.is_available():  # without a GPU there is nothing to copy
    X = torch.randn(4000, 4000, device="cuda")
    # pinned memory, allocated once
    hosts = [torch.empty(4000, 4000, pin_memory=True) for _ in range(10)]
    copying = torch.cuda.Stream()
    for host in hosts:
        Y = X @ X
        # by an event: copy no earlier than Y is ready
        copying.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(copying):
            host.copy_(Y, non_blocking=True)
        Y.record_stream(copying)  # keep Y's memory until it is copied
    copying.synchronize()  # only now may you read the hosts
