"""The networks of models/ in plain torch.nn, parameters named as torchvision 0.29.2 names them.

    python reference.py resnet18=FILE densenet40=FILE ...

Each FILE (safetensors) holds a network of ours as `model.<name>`, records `x`, and our logits
`eval` and then `train`, with the buffers `after.<name>` that training left. Prints, for each,
whether the same weights answer the same here. ResNet-18, 34 and 50, DenseNet-121 and the features
of VGG-11 were compared with those of torchvision 0.29.2: the same names, and the same bits answered
in both modes.
"""

import json
import struct
import sys

import numpy
import torch
from torch import nn


def conv(inputs, outputs, size, stride=1, bias=False):
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=bias)


class ResidualBlock(nn.Module):
    def __init__(self, inputs, width, stride, bottleneck):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        windows = [(1, 1), (3, stride), (1, 1)] if bottleneck else [(3, stride), (3, 1)]
        channels = [inputs] + [width] * (len(windows) - 1) + [outputs]
        self.steps = len(windows)
        for i, (size, step) in enumerate(windows):
            self.add_module(f"conv{i + 1}", conv(channels[i], channels[i + 1], size, step))
            self.add_module(f"bn{i + 1}", nn.BatchNorm2d(channels[i + 1]))
        if stride != 1 or inputs != outputs:
            shortcut = conv(inputs, outputs, 1, stride)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(outputs))

    def forward(self, x):
        value = x
        for i in range(1, self.steps + 1):
            value = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(value))
            value = value.relu() if i < self.steps else value
        return (value + (self.downsample(x) if hasattr(self, "downsample") else x)).relu()


class ResNet(nn.Module):
    def __init__(self, channels, classes, blocks, width, bottleneck, imagenet):
        super().__init__()
        self.conv1 = conv(channels, width, 7, 2) if imagenet else conv(channels, width, 3)
        self.bn1 = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, 2, 1) if imagenet else nn.Identity()
        self.stages = len(blocks)
        inputs = width
        for i, count in enumerate(blocks):
            stage = []
            for j in range(count):
                stage.append(ResidualBlock(inputs, width, 2 if i > 0 and j == 0 else 1, bottleneck))
                inputs = 4 * width if bottleneck else width
            self.add_module(f"layer{i + 1}", nn.Sequential(*stage))
            width *= 2
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = self.pool(self.bn1(self.conv1(x)).relu())
        for i in range(1, self.stages + 1):
            x = getattr(self, f"layer{i}")(x)
        return self.fc(x.mean((2, 3)))


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth, bottleneck):
        super().__init__()
        self.bottleneck = bottleneck
        self.norm1 = nn.BatchNorm2d(inputs)
        if bottleneck:
            self.conv1 = conv(inputs, 4 * growth, 1)
            self.norm2 = nn.BatchNorm2d(4 * growth)
            self.conv2 = conv(4 * growth, growth, 3)
        else:
            self.conv1 = conv(inputs, growth, 3)

    def forward(self, x):
        value = self.conv1(self.norm1(x).relu())
        if self.bottleneck:
            value = self.conv2(self.norm2(value).relu())
        return torch.cat([x, value], 1)


class DenseNet(nn.Module):
    def __init__(self, channels, classes, blocks, width, growth, deep):
        super().__init__()
        features = nn.Sequential()
        size, stride = (7, 2) if deep else (3, 1)
        features.add_module("conv0", conv(channels, width, size, stride))
        if deep:
            features.add_module("norm0", nn.BatchNorm2d(width))
            features.add_module("relu0", nn.ReLU())
            features.add_module("pool0", nn.MaxPool2d(3, 2, 1))
        for i, count in enumerate(blocks):
            block = nn.Sequential()
            for j in range(count):
                block.add_module(f"denselayer{j + 1}", DenseLayer(width, growth, deep))
                width += growth
            features.add_module(f"denseblock{i + 1}", block)
            if i + 1 < len(blocks):
                transition = nn.Sequential()
                outputs = width // 2 if deep else width
                transition.add_module("norm", nn.BatchNorm2d(width))
                transition.add_module("relu", nn.ReLU())
                transition.add_module("conv", conv(width, outputs, 1))
                transition.add_module("pool", nn.AvgPool2d(2))
                features.add_module(f"transition{i + 1}", transition)
                width = outputs
        features.add_module("norm5", nn.BatchNorm2d(width))
        self.features = features
        self.classifier = nn.Linear(width, classes)

    def forward(self, x):
        return self.classifier(self.features(x).relu().mean((2, 3)))


class Vgg11(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        layers = []
        for outputs in [64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0]:
            if outputs == 0:
                layers.append(nn.MaxPool2d(2))
                continue
            layers += [conv(channels, outputs, 3, bias=True), nn.BatchNorm2d(outputs), nn.ReLU()]
            channels = outputs
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(512, classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class WideBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = conv(inputs, outputs, 3, stride)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.conv2 = conv(outputs, outputs, 3)
        if stride != 1 or inputs != outputs:
            self.shortcut = conv(inputs, outputs, 1, stride)

    def forward(self, x):
        active = self.bn1(x).relu()
        value = self.conv2(self.bn2(self.conv1(active)).relu())
        return value + (self.shortcut(active) if hasattr(self, "shortcut") else x)


class WideResNet(nn.Module):
    def __init__(self, channels, classes, depth, width):
        super().__init__()
        self.conv1 = conv(channels, 16, 3)
        inputs = 16
        for i, outputs in enumerate([16 * width, 32 * width, 64 * width]):
            stage = []
            for j in range((depth - 4) // 6):
                stage.append(WideBlock(inputs, outputs, 2 if i > 0 and j == 0 else 1))
                inputs = outputs
            self.add_module(f"layer{i + 1}", nn.Sequential(*stage))
        self.bn1 = nn.BatchNorm2d(inputs)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.conv1(x))))
        return self.fc(self.bn1(x).relu().mean((2, 3)))


class Mlp(nn.Module):
    def __init__(self, features, classes, hidden):
        super().__init__()
        widths = [features] + hidden + [classes]
        self.layers = len(widths) - 1
        for i in range(self.layers):
            self.add_module(f"layer{i}", nn.Linear(widths[i], widths[i + 1]))

    def forward(self, x):
        x = x.flatten(1)
        for i in range(self.layers - 1):
            x = getattr(self, f"layer{i}")(x).tanh()
        return getattr(self, f"layer{self.layers - 1}")(x)


NETWORKS = {
    "resnet20": lambda c, k: ResNet(c, k, [3, 3, 3], 16, False, False),
    "resnet18": lambda c, k: ResNet(c, k, [2, 2, 2, 2], 64, False, True),
    "resnet34": lambda c, k: ResNet(c, k, [3, 4, 6, 3], 64, False, True),
    "resnet50": lambda c, k: ResNet(c, k, [3, 4, 6, 3], 64, True, True),
    "densenet121": lambda c, k: DenseNet(c, k, [6, 12, 24, 16], 64, 32, True),
    "densenet40": lambda c, k: DenseNet(c, k, [12, 12, 12], 16, 12, False),
    "vgg11": Vgg11,
    "wide_resnet28_2": lambda c, k: WideResNet(c, k, 28, 2),
    "mlp": lambda c, k: Mlp(c, k, [1024, 512, 256, 128]),
}

TYPES = {"F64": numpy.float64, "F32": numpy.float32, "I64": numpy.int64}


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, about in json.loads(data[8 : 8 + length]).items():
        begin, end = (8 + length + offset for offset in about["data_offsets"])
        values = numpy.frombuffer(data[begin:end], TYPES[about["dtype"]]).reshape(about["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


def part(tensors, prefix):
    return {n[len(prefix) :]: t for n, t in tensors.items() if n.startswith(prefix)}


def difference(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


@torch.no_grad()
def compare(name, path):
    tensors = load(path)
    x = tensors["x"]
    network = NETWORKS[name](x.shape[1], tensors["eval"].shape[1]).to(x.dtype)
    network.load_state_dict(part(tensors, "model."), strict=True)
    worst = difference(network.eval()(x), tensors["eval"])
    worst = max(worst, difference(network.train()(x), tensors["train"]))
    buffers = dict(network.named_buffers())
    for buffer, value in part(tensors, "after.").items():
        worst = max(worst, difference(buffers[buffer].double(), value.double()))
    return worst


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        name, path = argument.split("=", 1)
        worst = compare(name, path)
        print(name, "same" if worst < 1e-8 else f"differs by {worst}")
