"""Time the first call and the later ones of a network, as it is and compiled."""

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

torch.set_num_threads(1)  # more would wait for each other
device = "cuda" if torch.cuda.is_available() else "cpu"
hidden = (nn.Linear(512, 256), nn.ReLU())
net = nn.Sequential(*hidden, nn.Linear(256, 2)).to(device)
Form = Callable[[Tensor], Tensor]
# use your batch size: it decides
X = torch.randn(1, 512, device=device)
without = torch.inference_mode()
forms: dict[str, Form] = {"eager": net, "without gradients": without(net)}


def seconds(form: Form, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        y = form(X)
    y[0, 0].item()  # wait for a GPU
    return (time.perf_counter() - start) / calls


try:
    compiled = without(torch.compile(net))
    build = seconds(compiled, 1)  # it compiles in the first call
    forms["compiled"] = compiled
    print(f"built in {build:.1f} s")
except RuntimeError as error:
    print("not compiled:", str(error).splitlines()[0])

rounds = [[seconds(form, 100) for form in forms.values()] for _ in range(20)]
best = [sorted(times)[:5] for times in zip(*rounds, strict=True)]
b = best[1]  # to compare with: without gradients
for name, a in zip(forms, best, strict=True):
    # the best five do not overlap, or a is b
    if a[4] < b[0] or b[4] < a[0] or a is b:
        print(f"{name}: {1e6 * a[0]:.0f} µs a call")
    else:
        print(f"{name}: too busy to tell: try again")
if a[4] < b[0]:  # the last form is faster
    print(f"it pays after {build / (b[0] - a[0]):,.0f} calls")
