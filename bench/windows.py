"""One-sided calls between two ranks, with mpi4py: what `mpibench windows` measures in
Go, in the same way. A line for each: what and bytes, least and median microseconds.

mpirun -n 2 python3 windows.py [-rounds N] [-calls N] [-turns FOLDER/NAME]
"""
import argparse
import os
import statistics
import time

import numpy
from mpi4py import MPI

options = argparse.ArgumentParser()
options.add_argument("-rounds", type=int, default=7)
options.add_argument("-calls", type=int, default=1000)
options.add_argument("-turns")  # as mpibench's
options = options.parse_args()

world = MPI.COMM_WORLD
assert world.size == 2, "a ping-pong wants two ranks"
rank = world.rank
name = os.path.basename(options.turns) if options.turns else "mpi4py"
may = done = None
if options.turns:
    may = open(f"{options.turns}.{rank}")
    if rank == 0:
        done = open(os.path.join(os.path.dirname(options.turns), "done"), "w")

most = 1024
w = MPI.Win.Allocate(8 * most, 8, comm=world)
one, many = numpy.zeros(1), numpy.zeros(most)


def fences(n):
    put, fence = w.Put, w.Fence
    for _ in range(n):
        for turn in range(2):
            if rank == turn:
                put(one, 1 - rank, 0)
            fence()


def puts(n):
    put, flush = w.Put, w.Flush
    for _ in range(n if rank == 0 else 0):
        put(one, 1, 0)
        flush(1)


def adds(what):
    def loop(n):
        add, flush = w.Accumulate, w.Flush
        for _ in range(n if rank == 0 else 0):
            add(what, 1, 0, MPI.SUM)
            flush(1)

    return loop


def measure(ways):
    took = {label: [] for label, _, _ in ways}
    for turn in range(options.rounds + 1):
        for label, loop, count in ways:
            if may:
                may.readline()
            world.Barrier()
            start = time.perf_counter()
            loop(options.calls)
            if turn > 0:  # the first one warms up
                took[label].append((time.perf_counter() - start) * 1e6 / (options.calls * count))
            if done:
                print(name, file=done, flush=True)
    if rank == 0:
        for label, t in took.items():
            print("%s %s %.3f %.3f" % (name, label, min(t), statistics.median(t)), flush=True)


w.Fence()
measure([("put-fence-8", fences, 2)])
w.Fence(MPI.MODE_NOSUCCEED)
w.Lock_all()
measure([("put-flush-8", puts, 1), ("accumulate-flush-8", adds(one), 1)])
measure([(f"accumulate-flush-{8 * most}", adds(many), 1)])
w.Unlock_all()
w.Free()
