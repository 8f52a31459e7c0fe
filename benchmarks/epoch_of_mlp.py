"""The same epoch as epoch_of_mlp.cpp in plain PyTorch, one thread: by index_select, and with a DataLoader."""
import json
import time

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randint(0, 2, (5000, 600)).float()
y = torch.randint(0, 100, (5000,))
widths = [600, 1024, 512, 256, 128]
layers = [m for a, b in zip(widths, widths[1:]) for m in (torch.nn.Linear(a, b), torch.nn.Tanh())]
model = torch.nn.Sequential(*layers, torch.nn.Linear(128, 100))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)


def step(batch_x, batch_y):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(batch_x), batch_y).backward()
    optimizer.step()


def tensor_epoch():
    for index in torch.randperm(5000).split(128):
        step(x[index], y[index])


loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=128, shuffle=True)


def loader_epoch():
    for batch_x, batch_y in loader:
        step(batch_x, batch_y)


def fastest(epoch, rounds=10):
    epoch()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        epoch()
        times.append(time.perf_counter() - start)
    return min(times)


print(json.dumps({"tensor": fastest(tensor_epoch), "loader": fastest(loader_epoch)}))
