"""Time the first call and the later ones of a network, as it is and compiled."""

import time

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 2))
net.to(device)
X = torch.randn(1, 512, device=device)  # your batch size, which decides
no_gradients = torch.inference_mode()
forms = {"eager": net, "no gradients": no_gradients(net)}
# with a C++ compiler: forms["compiled"] = no_gradients(torch.compile(net))

for name, form in forms.items():
    for calls in (1, 1000):  # compilers work in the first call
        start = time.perf_counter()
        for _ in range(calls):
            y = form(X)
        y[0, 0].item()  # wait for a GPU
        seconds = (time.perf_counter() - start) / calls
        print(f"{name}, {calls} calls: {seconds:.1e} s each")
