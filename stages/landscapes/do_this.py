"""Keep the weights that did best on data that they were not trained on."""

import copy

import torch

X = torch.randn(400, 30)
y = X[:, :1] + torch.randn(400, 1)  # one of 30 features tells something
net = torch.nn.Linear(30, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
best, kept = float("inf"), copy.deepcopy(net.state_dict())
for step in range(1000):
    errors = (net(X) - y).square()
    new = errors[60:].mean().item()  # the first 60 rows train
    if new < best:
        best, best_step, kept = new, step, copy.deepcopy(net.state_dict())
    optimizer.zero_grad()
    errors[:60].mean().backward()
    optimizer.step()
net.load_state_dict(kept)
print(f"kept step {best_step} with {best:.2f}; the last has {new:.2f}")
