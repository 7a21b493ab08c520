// What instrumented kernels note of the memory that they touch, and how it is read.
//
// A table has pieces of 4096 granules, found by hashing. A piece has a bit for each
// granule and each of the three modes: read, written, changed atomically. A granule
// is a byte in the first table. What finds no room there goes to the next, whose
// granules are larger.
typedef unsigned long long gocuda_address;

#define GOCUDA_WORDS 128 // of a piece and a mode

struct gocuda_table {
    gocuda_address *keys;  // the number of a piece plus one; 0 is free
    unsigned *marks;   // of a piece: 3 * GOCUDA_WORDS
    unsigned *used;    // the pieces that are in use, by index
    unsigned count;    // of these
    unsigned bits;     // there are 1 << bits pieces
    unsigned shift;    // a granule has 1 << shift bytes
    unsigned reserved;
};

struct gocuda_trace {
    gocuda_table tables[3];
    unsigned lost;     // accesses found room nowhere
    unsigned reserved;
};

#ifdef GOCUDA_NOTE
// gocuda_piece is the index of a piece in a table, -1 if there is no room: half of a
// table stays free, so that what is not there is soon known. What another thread has
// just written may be seen late, as 0; then the atomic operation tells.
static __device__ __forceinline__ int gocuda_piece(gocuda_table *t, gocuda_address key) {
    unsigned mask = (1u << t->bits) - 1, h = (unsigned)((key * 0x9E3779B97F4A7C15ull) >> (64 - t->bits));
    for (int probe = 0; probe < 16; probe++, h = (h + 1) & mask) {
        gocuda_address k = t->keys[h];
        if (k == key) return (int)h;
        if (k) continue;
        if (t->count > mask / 2) return -1;
        k = atomicCAS(&t->keys[h], 0ull, key);
        if (!k) {
            t->used[atomicAdd(&t->count, 1u)] = h;
            return (int)h;
        }
        if (k == key) return (int)h;
    }
    return -1;
}

// gocuda_note notes an access to global memory that does not cross 32 bytes: what is
// its size in bytes times four, and 0 for read, 1 for written, 2 for atomic.
extern "C" __device__ __noinline__ void gocuda_note(gocuda_address at, unsigned what, gocuda_trace *trace) {
    gocuda_address end = at + (what >> 2) - 1;
    for (int level = 0; level < 3; level++) {
        gocuda_table *t = &trace->tables[level];
        gocuda_address first = at >> t->shift;
        int h = gocuda_piece(t, (first >> 12) + 1);
        if (h < 0) continue;
        unsigned n = (unsigned)((end >> t->shift) - first) + 1;
        unsigned bits = (n < 32 ? (1u << n) - 1 : ~0u) << (first & 31);
        unsigned *m = &t->marks[(h * 3 + (what & 3)) * GOCUDA_WORDS + ((first & 4095) >> 5)];
        if ((*m & bits) != bits) atomicOr(m, bits);
        return;
    }
    trace->lost = 1;
}
#endif

#ifdef GOCUDA_READ
// gocuda_gather writes the ranges of a trace: first address, with its highest bit if the
// granules are larger than a byte, and last address plus one times four, and the mode. head counts them; what exceeds capacity is not written.
// Whole takes a piece and a mode as one range.
extern "C" __global__ void gocuda_gather(gocuda_trace *trace, gocuda_address *out, unsigned *head, unsigned capacity, int whole) {
    for (int level = 0; level < 3; level++) {
        gocuda_table *t = &trace->tables[level];
        unsigned all = t->count * 3;
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x) {
            unsigned h = t->used[i / 3], mode = i % 3;
            gocuda_address base = (t->keys[h] - 1) << 12;
            const unsigned *m = &t->marks[(h * 3 + mode) * GOCUDA_WORDS];
            bool open = false;
            unsigned lo = 0, last = 0;
            auto put = [&](unsigned a, unsigned b) {
                unsigned k = atomicAdd(head, 1u);
                if (k >= capacity) return;
                out[2 * k] = (base + a) << t->shift | (level ? 1ull << 63 : 0);
                out[2 * k + 1] = ((base + b) << t->shift) << 2 | mode;
            };
            for (unsigned w = 0; w <= GOCUDA_WORDS; w++) {
                unsigned v = w < GOCUDA_WORDS ? m[w] : 0;
                if (open ? v == ~0u : v == 0) continue;
                for (unsigned b = 0; b < 32;) {
                    unsigned rest = (open ? ~v : v) >> b;
                    if (!rest) break;
                    b += __ffs((int)rest) - 1;
                    unsigned at = w * 32 + b;
                    if (!open) {
                        if (!whole || !last) lo = at;
                    } else if (whole) {
                        last = at;
                    } else {
                        put(lo, at);
                    }
                    open = !open;
                }
            }
            if (whole && last) put(lo, last);
        }
    }
}

// gocuda_clear clears the marks of a trace, and gocuda_free then its pieces.
extern "C" __global__ void gocuda_clear(gocuda_trace *trace) {
    for (int level = 0; level < 3; level++) {
        gocuda_table *t = &trace->tables[level];
        for (unsigned i = blockIdx.x; i < t->count; i += gridDim.x)
            for (unsigned w = threadIdx.x; w < 3 * GOCUDA_WORDS; w += blockDim.x) t->marks[t->used[i] * 3 * GOCUDA_WORDS + w] = 0;
    }
}

extern "C" __global__ void gocuda_free(gocuda_trace *trace) { // of one block
    for (int level = 0; level < 3; level++) {
        gocuda_table *t = &trace->tables[level];
        for (unsigned i = threadIdx.x; i < t->count; i += blockDim.x) t->keys[t->used[i]] = 0;
    }
    __syncthreads();
    if (threadIdx.x < 3) trace->tables[threadIdx.x].count = 0;
    if (threadIdx.x == 0) trace->lost = 0;
}
#endif
