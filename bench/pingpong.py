"""Half round trips of host memory between two ranks, with mpi4py: what
`mpibench host` measures in Go, in the same way. A line for each size: bytes,
least and median microseconds.

mpirun -n 2 python3 pingpong.py [-rounds N] [-max BYTES] [-calls N] [-turns FOLDER/NAME]
"""
import argparse
import os
import statistics
import time

from mpi4py import MPI

options = argparse.ArgumentParser()
options.add_argument("-rounds", type=int, default=7)
options.add_argument("-max", type=int, default=4 << 20)
options.add_argument("-calls", type=int, default=1000)
options.add_argument("-turns")  # as mpibench's
options = options.parse_args()

world = MPI.COMM_WORLD
assert world.size == 2, "a ping-pong wants two ranks"
other = 1 - world.rank
name = os.path.basename(options.turns) if options.turns else "mpi4py"


may = done = None
if options.turns:
    may = open(f"{options.turns}.{world.rank}")
    if world.rank == 0:
        done = open(os.path.join(os.path.dirname(options.turns), "done"), "w")


def loop(message, n):
    send, recv = world.Send, world.Recv
    if world.rank == 0:
        for _ in range(n):
            send(message, other, 0)
            recv(message, other, 0)
    else:
        for _ in range(n):
            recv(message, other, 0)
            send(message, other, 0)


sizes = [8]
while sizes[-1] * 8 < options.max:
    sizes.append(sizes[-1] * 8)
if sizes[-1] < options.max:
    sizes.append(options.max)
for size in sizes:
    message = [bytearray(size), MPI.BYTE]
    n = min(options.calls, max(2, (64 << 20) // size))
    took = []
    for turn in range(options.rounds + 1):
        if may:
            may.readline()
        world.Barrier()
        start = time.perf_counter()
        loop(message, n)
        if turn > 0:  # the first one warms up
            took.append((time.perf_counter() - start) * 1e6 / (2 * n))
        if done:
            print(name, file=done, flush=True)
    if world.rank == 0:
        print("%s %d %.3f %.3f" % (name, size, min(took), statistics.median(took)), flush=True)
