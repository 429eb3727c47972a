#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training of a logistic regression: a real program whose time goes into allreduce and broadcast.

The data are the handwritten digits that scikit-learn ships: 1797 pictures of 8 x 8 points, ten classes. Each picture is
expanded by random Fourier features, so that the model has some tens of thousands of weights; each rank holds a share of
the pictures. Every step computes the gradient of a small batch of the rank's pictures and sums it over all ranks (MPI
allreduce); every epoch rank 0 broadcasts the weights, as programs do that let one rank decide (and to keep ranks from
drifting apart).

    mpirun -n 2 python3 logistic_regression.py
    OMPI_MCA_mca_base_component_path=SYS_DEFAULT:DIR mpirun -n 2 python3 logistic_regression.py     with the plugin

The gradients are rounded to multiples of a power of two before they are summed, so that the sums are exact: accuracy,
loss and the digest of the weights are the same with any MPI, with and without the plugin.
"""

import argparse
import hashlib
import json
import sys

import numpy
from mpi4py import MPI
from sklearn.datasets import load_digits

# Multiples of 2^-16, below 2^6: sums of 8 ranks and more stay exact in the 24 bits of a float32.
GRID = numpy.float32(2.0**-16)


class Timed:
    """The two collectives, with the time that passes in them."""

    def __init__(self, world):
        self._world = world
        self.seconds = 0.0
        self.calls = 0

    def allreduce(self, send, receive):
        start = MPI.Wtime()
        self._world.Allreduce(send, receive, op=MPI.SUM)
        self.seconds += MPI.Wtime() - start
        self.calls += 1

    def broadcast(self, buffer):
        start = MPI.Wtime()
        self._world.Bcast(buffer, root=0)
        self.seconds += MPI.Wtime() - start
        self.calls += 1


def load(features):
    """Training and test pictures, expanded; the same on every rank."""
    digits = load_digits()
    random = numpy.random.default_rng(7)
    order = random.permutation(len(digits.target))
    pictures = (digits.data[order] / 16.0).astype(numpy.float32)
    projection = random.normal(0, 0.35, (pictures.shape[1], features)).astype(numpy.float32)
    shift = random.uniform(0, 2 * numpy.pi, features).astype(numpy.float32)
    expanded = numpy.sqrt(numpy.float32(2.0 / features)) * numpy.cos(pictures @ projection + shift)
    labels = digits.target[order]
    return expanded[:1500], labels[:1500], expanded[1500:], labels[1500:]


def probabilities(inputs, weights):
    scores = inputs @ weights
    scores -= scores.max(axis=1, keepdims=True)
    numpy.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def train(world, timed, arguments):
    inputs, labels, test_inputs, test_labels = load(arguments.features)
    mine = slice(world.rank, None, world.size)
    inputs, labels = inputs[mine], labels[mine]
    targets = numpy.eye(10, dtype=numpy.float32)[labels]
    weights = numpy.zeros((arguments.features, 10), dtype=numpy.float32)
    total = numpy.empty_like(weights)
    # The same number of steps on every rank, whatever its share.
    batches = (1500 // world.size) // arguments.batch
    if batches == 0:
        sys.exit(f"logistic_regression.py: a batch of {arguments.batch} is more than the share of one of "
                 f"{world.size} ranks; give a smaller --batch")
    rate = numpy.float32(arguments.rate / (arguments.batch * world.size))
    for _ in range(arguments.epochs):
        timed.broadcast(weights)
        for number in range(batches):
            batch = slice(number * arguments.batch, (number + 1) * arguments.batch)
            error = probabilities(inputs[batch], weights) - targets[batch]
            gradient = numpy.round(inputs[batch].T @ error / GRID) * GRID
            timed.allreduce(gradient.astype(numpy.float32, copy=False), total)
            weights -= rate * total
    chances = probabilities(test_inputs, weights)
    accuracy = float((chances.argmax(axis=1) == test_labels).mean())
    loss = float(-numpy.log(chances[numpy.arange(len(test_labels)), test_labels] + 1e-12).mean())
    return weights, accuracy, loss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--features", type=int, default=2000, help="a gradient has ten times as many floats (2000)")
    parser.add_argument("--batch", type=int, default=4, help="pictures of a rank in a step (4)")
    parser.add_argument("--rate", type=float, default=2.0, help="learning rate (2)")
    parser.add_argument("--json", help="rank 0 writes its figures to this file")
    arguments = parser.parse_args()

    world = MPI.COMM_WORLD
    timed = Timed(world)
    world.Barrier()
    start = MPI.Wtime()
    weights, accuracy, loss = train(world, timed, arguments)
    seconds = MPI.Wtime() - start

    digest = hashlib.sha256(weights.tobytes()).hexdigest()[:16]
    digests = world.gather(digest, root=0)
    if world.rank != 0:
        return
    if len(set(digests)) != 1:
        print(f"WRONG: the ranks ended with different weights: {digests}")
        world.Abort(1)
    if accuracy < 0.9 and arguments.epochs >= 20:
        print(f"WRONG: accuracy {accuracy:.4f} after {arguments.epochs} epochs; at least 0.9 is expected")
        world.Abort(1)
    print(f"{world.size} ranks, {timed.calls} collectives of {weights.nbytes} bytes: "
          f"accuracy {accuracy:.4f}, loss {loss:.4f}, weights {digest}")
    print(f"{seconds:.2f} s in all, {timed.seconds:.2f} s of it in collectives ({100 * timed.seconds / seconds:.0f} %)",
          flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"accuracy": accuracy, "loss": loss, "weights": digest, "seconds": seconds,
                       "collective_seconds": timed.seconds, "collectives": timed.calls}, file)


if __name__ == "__main__":
    main()
