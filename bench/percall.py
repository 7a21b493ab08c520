"""The same calls as percall.cu, through CuPy or cuda.core: what a Python user pays.

usage: percall.py cupy|cuda.core; bench/turns tells what to measure. The loops are
timeit's: a call of a function around each call would add to what it costs.
"""

import sys
import timeit

POINTERS = ", ".join(f"float *p{i}" for i in range(8))
INTS = ", ".join(f"int i{i}" for i in range(8))
EMPTY = 'extern "C" __global__ void empty() {}'
SIXTEEN = f'extern "C" __global__ void sixteen({POINTERS}, {INTS}) {{}}'


def cupy_calls():
    """The statements, and what they are about."""
    import cupy as cp

    runtime = cp.cuda.runtime
    pool = runtime.deviceGetDefaultMemPool(0)
    runtime.memPoolSetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold, 1 << 62)  # it keeps what is freed
    s, other = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    s.use()
    array = cp.zeros(16, cp.float32)
    names = {
        "empty": cp.RawKernel(EMPTY, "empty"),
        "sixteen": cp.RawKernel(SIXTEEN, "sixteen"),
        "args": (array,) * 8 + tuple(cp.int32(i) for i in range(1, 9)),
        "s": s,
        "other": other,
        "event": cp.cuda.Event(disable_timing=True),
        "one": (1,),
        "none": (),
        "malloc": runtime.mallocAsync,
        "free": runtime.freeAsync,
        "at": s.ptr,
    }
    statements = {
        "launch": "empty(one, one, none)",
        "launch, 16 arguments": "sixteen(one, one, args)",
        "launch and synchronize": "empty(one, one, none); s.synchronize()",
        "event record": "event.record(s)",
        "stream wait event": "other.wait_event(event)",
        "stream query": "s.done",
        "malloc and free async": "free(malloc(4096, at), at)",
    }
    return statements, names, cp.cuda.Device(0).synchronize


def cuda_core_calls():
    import ctypes

    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device(0)
    device.set_current()
    s, other = device.create_stream(), device.create_stream()

    def kernel(source, name):
        return Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel(name)

    names = {
        "launch": launch,
        "empty": kernel(EMPTY, "empty"),
        "sixteen": kernel(SIXTEEN, "sixteen"),
        "config": LaunchConfig(grid=1, block=1),
        "args": (device.allocate(64, stream=s),) * 8 + tuple(ctypes.c_int(i) for i in range(1, 9)),
        "s": s,
        "other": other,
        "event": s.record(),
        "allocate": device.allocate,
    }
    statements = {
        "launch": "launch(s, config, empty)",
        "launch, 16 arguments": "launch(s, config, sixteen, *args)",
        "launch and synchronize": "launch(s, config, empty); s.sync()",
        "event record": "s.record(event)",
        "stream wait event": "other.wait(event)",
        "malloc and free async": "allocate(4096, stream=s).close()",
    }
    return statements, names, device.sync


def main():
    statements, names, drain = {"cupy": cupy_calls, "cuda.core": cuda_core_calls}[sys.argv[1]]()
    timers = {case: timeit.Timer(statement, globals=names) for case, statement in statements.items()}
    print("ready", flush=True)
    for line in sys.stdin:
        n, _, case = line.rstrip("\n").split(" ", 2)
        if case not in timers:
            print("-", flush=True)
            continue
        timers[case].timeit(int(n) // 5 + 1)
        drain()
        took = timers[case].timeit(int(n))
        drain()
        print(int(took * 1e9), flush=True)


main()
