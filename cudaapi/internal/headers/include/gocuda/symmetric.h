// Memory that every rank of a host has, as a kernel of one of them sees it: see package
// symmetric. cudaapi/gpu/symmetric.go is the same in Go, with the same layout.
#pragma once

namespace gocuda {

namespace symmetric_words {
// What each rank has beside its memory: signals that came, those that were waited for,
// and for each block of a launch and each rank how often it came to a barrier, and how
// often this rank saw it.
constexpr int ranks = 8, signals = 1024, blocks = 1024;
constexpr int seen = signals, came = 2 * signals, epochs = came + blocks * ranks;

#ifdef __GOCUDA_SIM__
__device__ inline unsigned acquire(const unsigned *p) {
    unsigned v = *(const volatile unsigned *)p;
    __threadfence_system();
    return v;
}
__device__ inline void release(unsigned *p, unsigned v) {
    __threadfence_system();
    *(volatile unsigned *)p = v;
}
__device__ inline void release_add(unsigned *p, unsigned v) {
    __threadfence_system();
    atomicAdd_system(p, v);
}
#else
__device__ inline unsigned acquire(const unsigned *p) {
    unsigned v;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)) : "memory");
    return v;
}
__device__ inline void release(unsigned *p, unsigned v) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" :: "l"(__cvta_generic_to_global(p)), "r"(v) : "memory");
}
__device__ inline void release_add(unsigned *p, unsigned v) {
    asm volatile("red.release.sys.global.add.u32 [%0], %1;" :: "l"(__cvta_generic_to_global(p)), "r"(v) : "memory");
}
#endif

__device__ inline int thread() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
__device__ inline int threads() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ inline int block() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
} // namespace symmetric_words

template <class T> struct symmetric {
    template <class U> struct slice { U *ptr; long long len, cap; };

    slice<T> memory[symmetric_words::ranks];
    slice<unsigned> control[symmetric_words::ranks];
    slice<unsigned> stop; // a word of the host: 1 ends what waits
    long long me, all;

    __host__ __device__ int rank() const { return (int)me; }
    __host__ __device__ int size() const { return (int)all; }
    // count is how many elements each rank has.
    __host__ __device__ long long count() const { return memory[0].len; }
    // peer is rank p's memory: load and store there as in your own.
    __host__ __device__ T *peer(int p) const { return memory[p].ptr; }
    __host__ __device__ T *local() const { return memory[me].ptr; }

    // stopped says whether what waits is to end: a rank is lost, or the program was
    // interrupted. A loop of your own that waits must ask it.
    __device__ bool stopped() const { return *(const volatile unsigned *)stop.ptr != 0; }

    // signal adds n to a counter of rank p. What this thread did before, and what it knows
    // of others by a barrier, is seen there by who waits for it.
    __device__ void signal(int p, int slot, unsigned n = 1) const { symmetric_words::release_add(control[p].ptr + slot, n); }
    // test is one of this rank's counters.
    __device__ unsigned test(int slot) const { return symmetric_words::acquire(control[me].ptr + slot); }
    // wait_until waits, in one thread, until a counter has come to a value. It is false if the
    // wait was stopped, as below.
    __device__ bool wait_until(int slot, unsigned value) const { return await(control[me].ptr + slot, value); }

    // What follows is for all threads of a block together.

    // put copies n elements to place at of rank p's memory.
    __device__ void put(int p, long long at, const T *from, long long n) const { copy(peer(p) + at, from, n); }
    // get copies n elements from place at of rank p's memory.
    __device__ void get(T *to, int p, long long at, long long n) const { copy(to, peer(p) + at, n); }
    // put_signal is a put that is told when it is done.
    __device__ void put_signal(int p, long long at, const T *from, long long n, int slot) const {
        put(p, at, from, n);
        __syncthreads();
        if (symmetric_words::thread() == 0) signal(p, slot);
    }
    // wait waits for the next n signals of a counter, which are used up by that. One block
    // at a time waits for a counter.
    __device__ bool wait(int slot, unsigned n = 1) const {
        bool came = true;
        if (symmetric_words::thread() == 0) {
            unsigned *seen = control[me].ptr + symmetric_words::seen + slot, value = *(volatile unsigned *)seen + n;
            if ((came = await(control[me].ptr + slot, value))) *seen = value;
        }
        return __syncthreads_and(came);
    }

    // barrier waits for the block of this number of every rank. What was done before it there
    // is seen after it here. A launch has at most 1024 blocks that call it.
    __device__ bool barrier() const {
        arrive();
        return wait_barrier();
    }
    // arrive and wait_barrier are its halves: release and acquire.
    __device__ void arrive() const {
        using namespace symmetric_words;
        if (block() >= blocks) __trap();
        const int row = block() * ranks;
        unsigned next = 0;
        if (thread() < all) next = control[me].ptr[epochs + row + thread()] + 1;
        __syncthreads();
        for (int p = thread(); p < all; p += threads()) {
            if (p >= threads()) next = control[me].ptr[epochs + row + p] + 1;
            if (p != me) release(control[p].ptr + came + row + me, next);
        }
    }
    __device__ bool wait_barrier() const {
        using namespace symmetric_words;
        const int row = block() * ranks;
        bool ok = true;
        for (int p = thread(); p < all; p += threads()) {
            if (p == me) continue;
            unsigned *epoch = control[me].ptr + epochs + row + p;
            const unsigned next = *(volatile unsigned *)epoch + 1;
            if (!await(control[me].ptr + came + row + p, next)) ok = false;
            *epoch = next;
        }
        return __syncthreads_and(ok);
    }

private:
    __device__ bool await(const unsigned *word, unsigned value) const {
        for (unsigned turn = 1; (int)(symmetric_words::acquire(word) - value) < 0; turn++) {
            if (turn % 256 == 0 && stopped()) return false;
        }
        return true;
    }
    __device__ static void copy(T *to, const T *from, long long n) {
        using namespace symmetric_words;
        const bool wide = sizeof(T) <= 16 && 16 % sizeof(T) == 0 && ((unsigned long long)to | (unsigned long long)from) % 16 == 0;
        const long long each = 16 / (sizeof(T) <= 16 ? sizeof(T) : 16), whole = wide ? n / each : 0;
        for (long long i = thread(); i < whole; i += threads()) ((uint4 *)to)[i] = ((const uint4 *)from)[i];
        for (long long i = whole * each + thread(); i < n; i += threads()) to[i] = from[i];
    }
};

} // namespace gocuda
