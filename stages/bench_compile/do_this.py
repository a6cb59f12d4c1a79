"""Time the first call and the later ones of a network, as it is and compiled."""

import time

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
hidden = (nn.Linear(512, 256), nn.ReLU())
net = nn.Sequential(*hidden, nn.Linear(256, 2)).to(device)
# your batch size, which decides
X = torch.randn(1, 512, device=device)
without = torch.inference_mode()
forms = {"eager": net, "without gradients": without(net)}
# if you have a C++ compiler:
# forms["compiled"] = without(torch.compile(net))

for name, form in forms.items():
    # compilers work in the first call
    for which, calls in (("first", 1), ("later", 1000)):
        start = time.perf_counter()
        for _ in range(calls):
            y = form(X)
        y[0, 0].item()  # wait for a GPU
        seconds = (time.perf_counter() - start) / calls
        print(f"{name}: {which} {1e6 * seconds:.0f} µs a call")
