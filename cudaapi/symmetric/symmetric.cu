// What package symmetric queues in the order of a stream.
#include <gocuda/symmetric.h>

typedef gocuda::symmetric<unsigned char> memory;

extern "C" __global__ void symmetric_signal(memory w, int p, int slot) { w.signal(p, slot); }

extern "C" __global__ void symmetric_wait(memory w, int slot) { w.wait(slot); }

extern "C" __global__ void symmetric_barrier(memory w) { w.barrier(); }

extern "C" __global__ void symmetric_put(memory w, int p, long long at, const unsigned char *from, long long n, int slot) {
    w.put_signal(p, at, from, n, slot);
}
