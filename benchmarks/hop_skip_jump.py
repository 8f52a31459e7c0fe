"""HopSkipJump in plain PyTorch, one record after the other as the Adversarial Robustness Toolbox does it (batched over
the directions of one record only): the other side of the attack `boundary`. Same mathematics, budget and defaults as
framework/privacy/hop_skip_jump.h."""
import math
import time

import numpy
import torch

LOW, HIGH = 0.0, 1.0
ITERATIONS, TRIES, FIRST, MOST = 50, 100, 100, 10000
FIRST_REACH, START_TOLERANCE, THETA = 0.1, 0.001, 0.01


class Spent(Exception):
    """The next stage costs more queries than are left."""


class Record:
    """The search for the boundary near one record x that the model gives label y."""

    def __init__(self, model, x, y, queries, random):
        self.model, self.x, self.y, self.left, self.random = model, x, y, queries, random
        self.distance, self.queries = 0.0, 0
        self.theta = THETA / math.sqrt(x.size)
        self.rounds = math.ceil(math.log2(1 / self.theta))

    def differs(self, points):
        self.left -= len(points)
        self.queries += len(points)
        with torch.no_grad():
            return (self.model(torch.from_numpy(points)).argmax(1) != self.y).numpy()

    def start(self):
        for _ in range(TRIES):
            if self.left < 1:
                return None
            z = self.random.uniform(LOW, HIGH, self.x.shape).astype(numpy.float32)
            if self.differs(z[None])[0]:
                return z
        return None

    def bisect(self, z, tolerance):
        if self.left < math.ceil(math.log2(1 / tolerance)):
            raise Spent
        same, other = 0.0, 1.0
        while other - same > tolerance:
            middle = (same + other) / 2
            if self.differs(((1 - middle) * self.x + middle * z).astype(numpy.float32)[None])[0]:
                other = middle
            else:
                same = middle
        z = ((1 - other) * self.x + other * z).astype(numpy.float32)
        self.distance = min(self.distance, float(numpy.linalg.norm(z - self.x)))
        return z

    def direction(self, z, count, reach):
        u = self.random.standard_normal((count, z.size), dtype=numpy.float32)
        u /= numpy.linalg.norm(u, axis=1, keepdims=True)
        points = numpy.clip(z + reach * u, LOW, HIGH).astype(numpy.float32)
        u = (points - z) / reach
        f = 2 * self.differs(points).astype(numpy.float32)[:, None] - 1
        mean = f.mean()
        v = (f * u).mean(0) if abs(mean) == 1 else ((f - mean) * u).mean(0)
        return v / numpy.linalg.norm(v)

    def step(self, z, v, t):
        length = 2 * numpy.linalg.norm(z - self.x) / math.sqrt(t + 1)
        while self.left > self.rounds:
            length /= 2
            point = numpy.clip(z + length * v, LOW, HIGH).astype(numpy.float32)
            if self.differs(point[None])[0]:
                return point
        return z

    def search(self):
        if self.differs(self.x[None])[0]:
            return
        z = self.start()
        if z is None:
            return
        self.distance = float(numpy.linalg.norm(z - self.x))
        z = self.bisect(self.bisect(z, START_TOLERANCE), self.theta)
        reach = FIRST_REACH * (HIGH - LOW)
        for t in range(ITERATIONS):
            count = min(int(FIRST * math.sqrt(t + 1)), MOST, self.left - 1 - self.rounds)
            if count < 1:
                return
            z = self.step(z, self.direction(z, count, reach), t)
            reach = THETA * float(numpy.linalg.norm(z - self.x))
            z = self.bisect(z, self.theta)


def seconds_per_record(records, features=600, hidden=128, classes=100, queries=2500):
    """On a network of random weights, labels its own answers, so that every record is searched."""
    torch.manual_seed(0)
    first = torch.randn(hidden, features) * math.sqrt(2 / features)
    second = torch.randn(classes, hidden) * math.sqrt(2 / hidden)
    x = torch.rand(records, features)

    def model(points):
        return (points @ first.t()).relu() @ second.t()

    labels = model(x).argmax(1).tolist()
    random = numpy.random.default_rng(0)
    searches = [Record(model, row, y, queries, random) for row, y in zip(x.numpy(), labels)]
    begin = time.perf_counter()
    for search in searches:
        try:
            search.search()
        except Spent:
            pass
    return (time.perf_counter() - begin) / records
