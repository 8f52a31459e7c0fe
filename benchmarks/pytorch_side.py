"""The same work as imprint_side.cpp in plain PyTorch, one thread: `pytorch_side.py WHAT [FOLDER]` prints JSON."""
import json
import os
import pickle
import random
import sys
import time

import numpy
import torch
from torch import nn
from torch.nn import functional as F

from attack_side import attacks, fastest

torch.set_num_threads(1)
torch.manual_seed(0)


def trainer(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)

    def step(x, y):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def mlp(_):
    x = torch.randint(0, 2, (5000, 600)).float()
    y = torch.randint(0, 100, (5000,))
    widths = [600, 1024, 512, 256, 128]
    layers = [m for a, b in zip(widths, widths[1:]) for m in (nn.Linear(a, b), nn.Tanh())]
    step = trainer(nn.Sequential(*layers, nn.Linear(128, 100)))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=128, shuffle=True)

    def tensor_epoch():
        for index in torch.randperm(5000).split(128):
            step(x[index], y[index])

    def loader_epoch():
        for batch in loader:
            step(*batch)

    tensor_epoch()
    return {"tensor": fastest(tensor_epoch, 10), "loader": fastest(loader_epoch, 10)}


def audit(_):
    """Eighteen trainings of a small network, one after the other; no query, no attack."""
    x = torch.randint(0, 2, (30000, 600)).float()
    y = torch.randint(0, 100, (30000,))

    def work():
        for _ in range(18):
            members = torch.randperm(30000)[:7500]
            own_x, own_y = x[members], y[members]
            step = trainer(nn.Sequential(nn.Linear(600, 128), nn.Tanh(), nn.Linear(128, 100)))
            for _ in range(10):
                for index in torch.randperm(7500).split(256):
                    step(own_x[index], own_y[index])

    return {"seconds": fastest(work, 2)}


def steps(_):
    """Steps of the audit's network for some seconds' worth of work."""
    step = trainer(nn.Sequential(nn.Linear(600, 128), nn.Tanh(), nn.Linear(128, 100)))
    x, y = torch.randint(0, 2, (256, 600)).float(), torch.randint(0, 100, (256,))
    return {"seconds": fastest(lambda: [step(x, y) for _ in range(1500)], 1)}


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.shortcut = nn.Identity()
        if stride != 1:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.shortcut(x))


def resnet20():
    blocks, inputs = [], 16
    for width in (16, 32, 64):
        for i in range(3):
            blocks.append(Block(inputs, width, 2 if i == 0 and width > 16 else 1))
            inputs = width
    return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *blocks,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Augmented(torch.utils.data.Dataset):
    """Images one by one with random crop and flip, as data sets in Python hand them out."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        image = F.pad(self.x[i].float().div(255), (4, 4, 4, 4))
        top, left = random.randint(0, 8), random.randint(0, 8)
        image = image[:, top:top + 32, left:left + 32]
        return (image.flip(2) if random.random() < 0.5 else image), self.y[i]


def resnet(_):
    x = torch.randint(0, 256, (10000, 3, 32, 32), dtype=torch.uint8)
    y = torch.randint(0, 10, (10000,))
    step = trainer(resnet20())
    loader = torch.utils.data.DataLoader(Augmented(x, y), batch_size=128, shuffle=True)

    def epoch():
        for batch in loader:
            step(*batch)

    return {"loader": fastest(epoch, 1)}


def forget(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def cifar(folder):
    """As torchvision reads the Python version: unpickle, stack, reshape; then one tensor."""
    names = [os.path.join(folder, f"data_batch_{i}") for i in range(1, 6)] + [os.path.join(folder, "test_batch")]

    def read():
        parts, labels = [], []
        for name in names:
            with open(name, "rb") as file:
                entry = pickle.load(file, encoding="latin1")
            parts.append(entry["data"])
            labels.extend(entry["labels"])
        x = numpy.vstack(parts).reshape(-1, 3, 32, 32).transpose((0, 2, 3, 1))
        return torch.from_numpy(numpy.ascontiguousarray(x)).permute(0, 3, 1, 2).sum(), torch.tensor(labels)

    def cold():
        for name in names:
            forget(name)
        return fastest(read, 1)

    return {"source_cold": min(cold() for _ in range(3)), "source": fastest(read, 3)}


def texas(_):
    data = torch.utils.data.TensorDataset(torch.randint(0, 2, (20000, 6169)).float(),
                                          torch.randint(0, 100, (20000,)))
    loader = torch.utils.data.DataLoader(data, batch_size=128, shuffle=True)

    def epoch():
        for _ in loader:
            pass

    return {"loader": fastest(epoch, 3), "bytes": data.tensors[0].numel() * 4}


if __name__ == "__main__":
    work = {"audit": audit, "steps": steps, "attacks": attacks, "mlp": mlp, "resnet": resnet, "cifar": cifar, "texas": texas}[sys.argv[1]]
    print(json.dumps(work(sys.argv[2] if len(sys.argv) > 2 else "")))
