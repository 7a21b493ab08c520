# The kernels of bench/gokernels in numba-cuda. Each line that is read names one; the
# answer is the time of a launch in microseconds, by events around it.
# usage: numba.py N SIDE SMALL
import sys

import numpy as np

if not hasattr(np, "row_stack"):  # which numba-cuda asks NumPy 2.4 for in vain
    np.row_stack = np.vstack
from numba import cuda, float32, int32, uint8, uint32


@cuda.jit
def saxpy(n, a, x, y):
    i = cuda.grid(1)
    if i < n:
        y[i] = a * x[i] + y[i]


@cuda.jit
def dot(n, x, y, sums):
    tile = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s = float32(0)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        s += x[i] * y[i]
    tile[t] = s
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            tile[t] += tile[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = tile[0]


@cuda.jit
def jacobi(n, src, dst):
    i, j = cuda.grid(2)
    if 0 < i < n - 1 and 0 < j < n - 1:
        dst[j * n + i] = float32(0.25) * (src[j * n + i - 1] + src[j * n + i + 1] + src[(j - 1) * n + i] + src[(j + 1) * n + i])


@cuda.jit
def matmul(n, a, b, c):
    p, q = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx
    total = float32(0)
    for t in range(n // 16):
        p[ty, tx] = a[row * n + t * 16 + tx]
        q[ty, tx] = b[(t * 16 + ty) * n + col]
        cuda.syncthreads()
        for k in range(16):
            total += p[ty, k] * q[k, tx]
        cuda.syncthreads()
    c[row * n + col] = total


@cuda.jit
def histogram(n, data, bins):
    local = cuda.shared.array(256, uint32)
    t = cuda.threadIdx.x
    local[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(local, data[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, t, local[t])


@cuda.jit
def transpose(n, src, dst):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty
    for k in range(0, 32, 8):
        tile[ty + k, tx] = src[(y + k) * n + x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
    for k in range(0, 32, 8):
        dst[(y + k) * n + x] = tile[tx, ty + k]


@cuda.jit
def scan(n, src, dst):
    s = cuda.shared.array((2, 256), float32)
    t, i, now = cuda.threadIdx.x, cuda.grid(1), 0
    s[0, t] = src[i]
    cuda.syncthreads()
    d = 1
    while d < 256:
        v = s[now, t]
        if t >= d:
            v += s[now, t - d]
        now = 1 - now
        s[now, t] = v
        cuda.syncthreads()
        d *= 2
    dst[i] = s[now, t]


@cuda.jit
def pi(n, seed, hits):
    i = cuda.grid(1)
    x0, x1, x2, x3, x4, d = uint32(seed + i), uint32(362436069), uint32(521288629), uint32(88675123), uint32(5783321), uint32(6615241)
    count = uint32(0)
    for k in range(n):
        t = uint32(x0 ^ (x0 >> uint32(2)))
        x0, x1, x2, x3 = x1, x2, x3, x4
        x4 = uint32(uint32(x4 ^ uint32(x4 << uint32(4))) ^ uint32(t ^ uint32(t << uint32(1))))
        d = uint32(d + uint32(362437))
        x = float32(uint32(x4 + d)) * float32(2.3283064e-10)
        t = uint32(x0 ^ (x0 >> uint32(2)))
        x0, x1, x2, x3 = x1, x2, x3, x4
        x4 = uint32(uint32(x4 ^ uint32(x4 << uint32(4))) ^ uint32(t ^ uint32(t << uint32(1))))
        d = uint32(d + uint32(362437))
        y = float32(uint32(x4 + d)) * float32(2.3283064e-10)
        if x * x + y * y <= float32(1):
            count += uint32(1)
    hits[i] = count


n, side, small = (int(v) for v in sys.argv[1:4])
x, y, z = (cuda.to_device(np.zeros(n, np.float32)) for _ in range(3))
data = cuda.to_device(((np.arange(n, dtype=np.int64) * 7919 >> 5) & 255).astype(np.uint8))
bins, hits = cuda.to_device(np.zeros(256, np.uint32)), cuda.to_device(np.zeros(n // 64, np.uint32))
launches = {
    "saxpy": lambda: saxpy[n // 256, 256](n, np.float32(2), x, y),
    "dot": lambda: dot[1024, 256](n, x, y, z),
    "jacobi": lambda: jacobi[(side // 32, side // 8), (32, 8)](side, x, y),
    "matmul": lambda: matmul[(small // 16, small // 16), (16, 16)](small, x, y, z),
    "histogram": lambda: histogram[1024, 256](n, data, bins),
    "transpose": lambda: transpose[(side // 32, side // 32), (32, 8)](side, x, y),
    "scan": lambda: scan[n // 256, 256](n, x, y),
    "pi": lambda: pi[n // 64 // 256, 256](64, 12345, hits),
}
for launch in launches.values():  # compiles
    launch()
cuda.synchronize()
start, end = cuda.event(), cuda.event()
print("ready", flush=True)
for line in sys.stdin:
    start.record()
    launches[line.strip()]()
    end.record()
    end.synchronize()
    print(cuda.event_elapsed_time(start, end) * 1000, flush=True)
