"""The same work as attack_side.cpp in plain NumPy and PyTorch, one thread."""
import time

import numpy
import torch
from torch import nn
from torch.nn import functional as F

import hop_skip_jump


def fastest(work, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def thresholds():
    """The best threshold of each class: sort once per class, cumulative counts."""
    random = numpy.random.default_rng(0)
    scores, member = random.normal(size=30000), random.integers(0, 2, 30000)
    y = random.integers(0, 100, 30000)

    def best(values, is_member):
        order = numpy.argsort(-values, kind="stable")
        hits, alarms = numpy.cumsum(is_member[order]), numpy.cumsum(1 - is_member[order])
        gain = hits / max(hits[-1], 1) - alarms / max(alarms[-1], 1)
        return values[order[numpy.argmax(gain)]]

    def work():
        order = numpy.argsort(y, kind="stable")
        ends = numpy.searchsorted(y[order], numpy.arange(101))
        best(scores, member)
        return [best(scores[order[a:b]], member[order[a:b]]) for a, b in zip(ends, ends[1:])]

    return fastest(work, 20)


def neural():
    x, y = torch.rand(10000, 100), torch.arange(10000) % 2

    def work():
        net = nn.Sequential(nn.Linear(100, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
        for _ in range(100):
            for index in torch.randperm(10000).split(128):
                optimizer.zero_grad()
                F.cross_entropy(net(x[index]), y[index]).backward()
                optimizer.step()

    return fastest(work, 1)


def gradients():
    widths = [600, 1024, 512, 256, 128]
    layers = [m for a, b in zip(widths, widths[1:]) for m in (nn.Linear(a, b), nn.Tanh())]
    net = nn.Sequential(*layers, nn.Linear(128, 100)).eval()
    x, y = torch.rand(64, 600), torch.randint(0, 100, (64,))

    def work():
        for i in range(64):
            net.zero_grad()
            F.cross_entropy(net(x[i:i + 1]), y[i:i + 1]).backward()
            torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item()

    return fastest(work, 2) / 64


def rmia():
    """Every candidate against every stranger, a thousand candidates at a time."""
    random = numpy.random.default_rng(0)

    def p(*shape):
        return 1 / (1 + numpy.exp(-random.normal(size=shape)))

    target_x, target_z, shadow_x, shadow_z = p(10000), p(10000), p(16, 10000), p(16, 10000)
    saw = random.integers(0, 2, (16, 10000)).astype(bool)

    def work():
        mean_in = (shadow_x * saw).sum(0) / numpy.maximum(saw.sum(0), 1)
        mean_out = (shadow_x * ~saw).sum(0) / numpy.maximum((~saw).sum(0), 1)
        ratio_x = target_x / ((mean_in + mean_out) / 2)
        ratio_z = target_z / shadow_z.mean(0)
        return numpy.concatenate([(ratio_x[i:i + 1000, None] / ratio_z >= 2).mean(1) for i in range(0, 10000, 1000)])

    return fastest(work, 2)


def attacks(_):
    return {"thresholds": thresholds(), "neural": neural(), "gradients": gradients(), "rmia": rmia(),
            "boundary": hop_skip_jump.seconds_per_record(20)}
