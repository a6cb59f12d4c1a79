"""Keep the weights that did best on data they were not trained on."""

import copy

import torch

X = torch.randn(400, 30)
# only one of 30 features matters
y = X[:, :1] + torch.randn(400, 1)
net = torch.nn.Linear(30, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
best = float("inf")
for step in range(1000):
    errors = (net(X) - y).square()
    new = errors[40:].mean().item()  # the first 40 rows train
    if new < best:
        best, best_step = new, step
        kept = copy.deepcopy(net.state_dict())
    sgd.zero_grad()
    errors[:40].mean().backward()
    sgd.step()
net.load_state_dict(kept)
print(f"error on new data: {best:.2f} at step {best_step},")
print(f"which is kept, and {new:.2f} at the last step")
