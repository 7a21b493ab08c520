"""The same calls as percall.cu, through CuPy and cuda.core: what a Python user pays.

Each line: name, unit, median of seven rounds. The loops are timeit's: a call of a
function around each call would add to what it costs.
"""

import statistics
import timeit


def per_call(name, n, statement, drain, names):
    timer = timeit.Timer(statement, globals=names)
    timer.timeit(n // 10)
    drain()
    rounds = []
    for _ in range(7):
        rounds.append(timer.timeit(n) / n * 1e6)
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
    one, none = (1,), ()
    malloc, free, at = cp.cuda.runtime.mallocAsync, cp.cuda.runtime.freeAsync, s.ptr
    names = locals()
    with s:
        per_call("cupy launch", n, "empty(one, one, none)", s.synchronize, names)
        per_call("cupy launch, 16 arguments", n, "sixteen(one, one, args)", s.synchronize, names)
        per_call("cupy launch and synchronize", n // 5, "empty(one, one, none); s.synchronize()", s.synchronize, names)
    per_call("cupy event record", n, "event.record(s)", s.synchronize, names)
    per_call("cupy stream wait event", n, "other.wait_event(event)", other.synchronize, names)
    per_call("cupy stream query", n, "s.done", s.synchronize, names)
    per_call("cupy malloc and free async", n // 5, "free(malloc(4096, at), at)", s.synchronize, names)


def cuda_core_calls(n):
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device(0)
    device.set_current()
    s = device.create_stream()
    program = Program('extern "C" __global__ void empty() {}', "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    empty = program.compile("cubin").get_kernel("empty")
    config = LaunchConfig(grid=1, block=1)
    names = locals() | {"launch": launch}
    per_call("cuda.core launch", n, "launch(s, config, empty)", s.sync, names)
    per_call("cuda.core event record", n, "s.record()", s.sync, names)


for calls in cupy_calls, cuda_core_calls:
    try:
        calls(20000)
    except ImportError as error:
        print(f"{calls.__name__}: {error}")
