"""The same calls as percall.cu, through CuPy and cuda.core: what a Python user pays.

Each line: name, unit, median of seven rounds.
"""

import statistics
import time


def per_call(name, n, call, drain):
    for _ in range(n // 10):
        call()
    drain()
    rounds = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(n):
            call()
        rounds.append((time.perf_counter() - start) / n * 1e6)
        drain()
    print(f"{name:36s} us    {statistics.median(rounds):9.3f}", flush=True)


def cupy_calls(n):
    import cupy as cp

    empty = cp.RawKernel('extern "C" __global__ void empty() {}', "empty")
    pointers = ", ".join(f"float *p{i}" for i in range(8))
    ints = ", ".join(f"int i{i}" for i in range(8))
    sixteen = cp.RawKernel(f'extern "C" __global__ void sixteen({pointers}, {ints}) {{}}', "sixteen")
    array = cp.zeros(1, cp.float32)
    args = (array,) * 8 + tuple(cp.int32(i) for i in range(8))
    s, other = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    event = cp.cuda.Event(disable_timing=True)
    with s:
        per_call("cupy launch", n, lambda: empty((1,), (1,), ()), s.synchronize)
        per_call("cupy launch, 16 arguments", n, lambda: sixteen((1,), (1,), args), s.synchronize)
        per_call("cupy launch and synchronize", n // 5, lambda: (empty((1,), (1,), ()), s.synchronize()), s.synchronize)
    per_call("cupy event record", n, lambda: event.record(s), s.synchronize)
    per_call("cupy stream wait event", n, lambda: other.wait_event(event), other.synchronize)


def cuda_core_calls(n):
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device(0)
    device.set_current()
    s = device.create_stream()
    program = Program('extern "C" __global__ void empty() {}', "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    empty = program.compile("cubin").get_kernel("empty")
    config = LaunchConfig(grid=1, block=1)
    per_call("cuda.core launch", n, lambda: launch(s, config, empty), s.sync)
    per_call("cuda.core event record", n, lambda: s.record(), s.sync)


for calls in cupy_calls, cuda_core_calls:
    try:
        calls(20000)
    except ImportError as error:
        print(f"{calls.__name__}: {error}")
