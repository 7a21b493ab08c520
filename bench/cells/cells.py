#!/usr/bin/env python3
"""The programs of bench/cells/programs in Python, by numba's @njit and in cells of ipykernel, for

    go run ./bench/cells -python PYTHON

pip install numba==0.62.1 ipykernel==7.4.0. The first call of numba compiles.
"""
import math
import os
import sys
import time

import numba
import numpy as np


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def loop(n):
    s = 0
    for i in range(n):
        s = (s + (i ^ s)) & 0x7FFFFFFFFFFFFFFF  # Python's integers would grow
    return s


def nbody(b, steps):  # x y z vx vy vz mass
    for _ in range(steps):
        for i in range(len(b)):
            for j in range(i + 1, len(b)):
                dx, dy, dz = b[i, 0] - b[j, 0], b[i, 1] - b[j, 1], b[i, 2] - b[j, 2]
                d2 = dx * dx + dy * dy + dz * dz
                mag = 0.01 / (d2 * math.sqrt(d2))
                b[i, 3] -= dx * b[j, 6] * mag
                b[i, 4] -= dy * b[j, 6] * mag
                b[i, 5] -= dz * b[j, 6] * mag
                b[j, 3] += dx * b[i, 6] * mag
                b[j, 4] += dy * b[i, 6] * mag
                b[j, 5] += dz * b[i, 6] * mag
        for i in range(len(b)):
            for k in range(3):
                b[i, k] += 0.01 * b[i, k + 3]
    return b[0, 0]


def spectral(u, v, t):
    n = len(u)
    for i in range(n):
        u[i] = 1
    for step in range(40):
        src, dst = (u, t) if step % 4 == 0 else (t, v) if step % 4 == 1 else (v, t) if step % 4 == 2 else (t, u)
        for i in range(n):
            a = 0.0
            for j in range(n):
                p, q = (j, i) if step % 2 else (i, j)
                a += 1 / ((p + q) * (p + q + 1) // 2 + p + 1) * src[j]
            dst[i] = a
    vbv = vv = 0.0
    for i in range(n):
        vbv += u[i] * v[i]
        vv += v[i] * v[i]
    return math.sqrt(vbv / vv)


def mandelbrot(n):
    inside = 0
    for y in range(n):
        for x in range(n):
            c = complex(2 * x / n - 1.5, 2 * y / n - 1)
            z, k = 0j, 0
            while k < 50:
                z = z * z + c
                if z.real * z.real + z.imag * z.imag > 4:
                    break
                k += 1
            if k == 50:
                inside += 1
    return inside


def matmul(a, b, c, n):
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += a[i * n + k] * b[k * n + j]
            c[i * n + j] = s
    return c[n + 1]


def sieve(composite):
    composite[:] = False
    primes = 0
    n = len(composite)
    for i in range(2, n):
        if composite[i]:
            continue
        primes += 1
        for j in range(i * i, n, i):
            composite[j] = True
    return primes


def quick(x):
    while len(x) > 12:
        p = x[len(x) // 2]
        i, j = 0, len(x) - 1
        while i <= j:
            while x[i] < p:
                i += 1
            while x[j] > p:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        quick(x[: j + 1])
        x = x[i:]
    for i in range(1, len(x)):
        j = i
        while j > 0 and x[j] < x[j - 1]:
            x[j], x[j - 1] = x[j - 1], x[j]
            j -= 1


def sort(x):
    s = 1
    for i in range(len(x)):
        s = (s * 1664525 + 1013904223) & 0xFFFFFFFF
        x[i] = s >> 8
    quick(x)
    return x[len(x) // 3]


def words(s):
    count = wide = 0
    inside = False
    for r in s:
        space = r == " " or r == "\n"
        if not space and not inside:
            count += 1
        inside = not space
        if ord(r) >= 0x80:
            wide += 1
    return count + wide


def jacobi(a, b, n, steps):
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1])
        a, b = b, a
    return a[n + 1]


def bodies():
    return np.array([[0, 0, 0, 0, 0, 0, 39.47], [4.84, -1.16, -0.1, 0.6, 2.81, -0.02, 0.037], [8.34, 4.12, -0.4, -1.01, 1.82, 0.008, 0.011],
                     [12.89, -15.11, -0.22, 1.08, 0.86, -0.01, 0.0017], [15.37, -25.91, 0.17, 0.97, 0.59, -0.034, 0.002]])


def room(n, count):
    return [np.zeros(n) for _ in range(count)]


PROGRAMS = [
    ("loop of 3 million", loop, lambda: (3_000_000,)),
    ("fib(30)", fib, lambda: (30,)),
    ("n-body", nbody, lambda: (bodies(), 200_000)),
    ("spectral norm", spectral, lambda: tuple(room(400, 3))),
    ("Mandelbrot", mandelbrot, lambda: (400,)),
    ("matrix product", matmul, lambda: (*room(300 * 300, 3), 300)),
    ("sieve", sieve, lambda: (np.zeros(5_000_000, bool),)),
    ("sorting", sort, lambda: (np.zeros(300_000, np.int64),)),
    ("string scanning", words, lambda: ("the quick brown fox jumps over the lazy dög\n" * 100_000,)),
    ("Jacobi", jacobi, lambda: (*room(500 * 500, 2), 500, 100)),
]


def timed(f, args):
    begun = time.perf_counter()
    f(*args)
    return 1e3 * (time.perf_counter() - begun)


def ipykernel():
    """Returns a function that runs a program by number in a cell of ipykernel, and gives the cell's ms."""
    from jupyter_client.manager import start_new_kernel

    _, client = start_new_kernel(kernel_name="python3")

    def cell(code):
        begun = time.perf_counter()
        reply = client.execute_interactive(code, output_hook=lambda message: None)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(reply["content"]["evalue"])
        return 1e3 * (time.perf_counter() - begun)

    cell(f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); from cells import PROGRAMS")

    def run(i):
        cell(f"_, f, args = PROGRAMS[{i}]; args = args()")
        return cell("f(*args);")

    return run


def main():
    """Answers each line "numba I" or "ipykernel I", I a program's number, with the ms that it took."""
    plain = ipykernel()
    fast = [f for _, f, _ in PROGRAMS]
    for name in ("fib", "quick"):  # they call themselves, or are called by others
        globals()[name] = numba.njit(globals()[name])
    fast = [fib if f.__name__ == "fib" else numba.njit(f) for f in fast]
    print("ready", flush=True)
    for line in sys.stdin:
        how, i = line.split()
        print(plain(int(i)) if how == "ipykernel" else timed(fast[int(i)], PROGRAMS[int(i)][2]()), flush=True)


if __name__ == "__main__":
    main()
