"""Runs both sides of each benchmark in turn, keeps the best of each, prints ratios."""
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time

import numpy

here = os.path.dirname(os.path.abspath(__file__))
program = sys.argv[1]


def both(what, rounds, *folders):
    """The best of several rounds, the two sides taking turns."""
    ours, theirs = {}, {}
    sides = [(ours, [program, what]), (theirs, [sys.executable, os.path.join(here, "pytorch_side.py"), what])]
    for _ in range(rounds):
        for (best, command), folder in zip(sides, folders or ("", "")):
            for name, value in json.loads(subprocess.check_output(command + [folder])).items():
                better = max if name == "gemm_flops" else min
                best[name] = better(best.get(name, value), value)
    return ours, theirs


def mlp():
    # Multiplications and additions of one epoch: forward, and backward for weights and (but the first layer) inputs.
    widths = [600, 1024, 512, 256, 128, 100]
    products = [a * b for a, b in zip(widths, widths[1:])]
    flops = 2 * 5000 * (3 * sum(products) - products[0])
    ours, theirs = both("mlp", 3)
    limit = flops / ours["gemm_flops"]
    print("one epoch of the 600-1024-512-256-128-100 network, 5,000 records, batch 128, one thread")
    print(f"  Imprint                  {100 * limit / ours['seconds']:.0f} % of the GEMM limit")
    for name, key in (("index_select", "tensor"), ("DataLoader", "loader")):
        print(f"  PyTorch, {name:<15} {100 * limit / theirs[key]:.0f} %; "
              f"Imprint is {theirs[key] / ours['seconds']:.2f} times as fast")


def resnet():
    ours, theirs = both("resnet", 1)
    print("one epoch of ResNet-20 on 10,000 images of 32 x 32 with crop and flip, batch 128, one thread")
    print(f"  Imprint                  {100 * ours['convolutions'] / ours['seconds']:.0f} % of the convolution limit "
          "(all its time spent in convolutions alone)")
    if "bfloat16" in ours:
        print(f"  Imprint, bfloat16        {ours['seconds'] / ours['bfloat16']:.2f} times as fast as float32")
    print(f"  PyTorch, DataLoader      Imprint is {theirs['loader'] / ours['seconds']:.2f} times as fast")


def write_cifar(folder):
    """Made-up images in both official versions of CIFAR-10, at full size."""
    rng = numpy.random.default_rng(0)
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        x = rng.integers(0, 256, (10000, 3072), dtype=numpy.uint8)
        y = rng.integers(0, 10, 10000, dtype=numpy.uint8)
        numpy.hstack([y[:, None], x]).tofile(os.path.join(folder, "bin", name + ".bin"))
        with open(os.path.join(folder, "py", name), "wb") as file:
            pickle.dump({"data": x, "labels": [int(label) for label in y]}, file, protocol=2)


def cifar():
    with tempfile.TemporaryDirectory() as folder:
        for part in ("bin", "py", "home"):
            os.mkdir(os.path.join(folder, part))
        write_cifar(folder)
        os.environ["IMPRINT_DATA"] = os.path.join(folder, "home")
        ours, theirs = both("cifar", 2, os.path.join(folder, "bin"), os.path.join(folder, "py"))
    print("reading CIFAR-10 (60,000 images) and summing its bytes; PyTorch as torchvision reads the pickled version")
    for name, key in (("its files, cold", "source_cold"), ("its files, warm", "source"),
                      ("the cache, cold", "cache_cold"), ("the cache, warm", "cache")):
        peer = "source_cold" if key.endswith("cold") else "source"
        print(f"  from {name:<20} Imprint is {theirs[peer] / ours[key]:.1f} times as fast")
    print(f"  opening the cache takes 1/{theirs['source'] / ours['open']:.0f} of it")


def texas():
    ours, theirs = both("texas", 2)
    print("batches of 128 of Texas100-shaped records (6,169 binary features), one epoch of 20,000")
    print(f"  Imprint, bits            {theirs['loader'] / ours['seconds']:.1f} times as fast as a DataLoader of floats, "
          f"in 1/{theirs['bytes'] / ours['bytes']:.0f} of the memory")


AUDIT = """name: audit
data: {name: prototypes, records: 30000, split: {size: 7500}}
model: {name: mlp, hidden: [128]}
train: {epochs: 10, batch: 256, optimizer: {lr: 0.1, momentum: 0.9, weight_decay: 5e-4}, evaluate: {every: 10}}
attacks: [loss]
seeds: 9
"""


meter_seconds = (53, 78)  # ML Privacy Meter, the same audit, elsewhere


def audit_run(folder, jobs):
    """Seconds of a whole `imprint run` from its start to its report; seconds that its jobs took; how many they were."""
    out, store = os.path.join(folder, f"runs{jobs}"), os.path.join(folder, f"store{jobs}")
    shutil.rmtree(store, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run([os.path.join(os.environ["IMPRINT_BUILD"], "imprint"), "run", os.path.join(folder, "audit.yaml"),
                    "--out", out, "--store", store, "--jobs", str(jobs), "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    own = []
    for number in range(jobs):
        with open(os.path.join(out, "latest", "progress", f"{number}.jsonl")) as lines:
            own += [event["seconds"] for event in map(json.loads, lines) if event["kind"] == "done"]
    return seconds, sum(own), len(own)


def two_cores():
    """How much more two processes do than one, of the same steps of training: shared cores may give less than 2."""
    command = [sys.executable, os.path.join(here, "pytorch_side.py"), "steps"]

    def seconds(count):
        started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(count)]
        return max(json.loads(process.communicate()[0])["seconds"] for process in started)

    return max(2 * seconds(1) / seconds(2) for _ in range(2))


def audit():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "audit.yaml"), "w") as file:
            file.write(AUDIT)
        one = min(audit_run(folder, 1) for _ in range(2))
        two = min(audit_run(folder, 2) for _ in range(2))
        theirs = json.loads(subprocess.check_output(
            [sys.executable, os.path.join(here, "pytorch_side.py"), "audit"]))
    print("an audit of 18 networks 600-128-100 (7,500 records, batch 256, 10 epochs), queries, attacks and report included")
    print(f"  two workers              {one[0] / two[0]:.2f} times as fast as one after the other in one process; two "
          f"processes of plain training do {two_cores():.2f} times what one does here")
    print(f"  plain PyTorch loop       trainings alone, one after the other: Imprint is {theirs['seconds'] / two[0]:.2f} "
          f"times as fast with two workers, {theirs['seconds'] / one[0]:.2f} with one")
    low, high = (seconds / two[0] for seconds in meter_seconds)
    print(f"  ML Privacy Meter         takes {meter_seconds[0]} to {meter_seconds[1]} s for the same audit, published or "
          f"measured on other machines: roughly, Imprint is {low:.0f} to {high:.0f} times as fast with two workers")
    overhead = 1000 * (one[0] - one[1])
    print(f"  overhead                 {overhead / one[2]:.0f} ms per job beyond its own work, {overhead / 18:.0f} ms per "
          "training (start, planning, scheduling and report of the whole run)")


def attacks():
    ours, theirs = both("attacks", 2)
    print("attacks' inner work, one thread, against NumPy and PyTorch programs of the same mathematics")
    for name, key in (("threshold search", "thresholds"), ("neural attack's training", "neural"),
                      ("gradient norms", "gradients"), ("RMIA", "rmia"), ("HopSkipJump", "boundary")):
        print(f"  {name:<24} Imprint is {theirs[key] / ours[key]:.1f} times as fast")


known = {"audit": audit, "attacks": attacks, "mlp": mlp, "resnet": resnet, "cifar": cifar, "texas": texas}
for name in sys.argv[2:] or known:
    if name not in known:
        sys.exit(f"there is no benchmark '{name}' (benchmarks: {', '.join(known)})")
    known[name]()
