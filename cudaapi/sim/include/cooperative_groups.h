// Cooperative groups: blocks, tiles of warps, coalesced threads and grids.
#pragma once

#ifndef GOCUDA_COOPERATIVE_GROUPS
#define GOCUDA_COOPERATIVE_GROUPS
namespace cooperative_groups {

struct thread_block {
    typedef unsigned int index_type;
    static void sync() { __syncthreads(); }
    static unsigned int thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
    static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned int size() { return num_threads(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
};
inline thread_block this_thread_block() { return thread_block(); }

struct grid_group {
    static void sync() { gocuda::arrive_grid(); }
    static bool is_valid() { return true; }
    static unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
    static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned long long size() { return num_threads(); }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return dim3(blockIdx); }
};
inline grid_group this_grid() { return grid_group(); }

// lanes is what tiles and coalesced threads share: some lanes of one warp.
struct lanes {
    unsigned int mask;
    unsigned int num_threads() const { return __popc(mask); }
    unsigned int size() const { return num_threads(); }
    unsigned int thread_rank() const { return __popc(mask & ((1u << gocuda::lane()) - 1)); }
    void sync() const { __syncwarp(mask); }
    int any(int p) const { return __any_sync(mask, p); }
    int all(int p) const { return __all_sync(mask, p); }
    unsigned int ballot(int p) const { return pack(__ballot_sync(mask, p)); }
    template <class T> unsigned int match_any(T v) const { return pack(__match_any_sync(mask, v)); }
    template <class T> unsigned int match_all(T v, int &same) const { return pack(__match_all_sync(mask, v, &same)); }
    template <class T> T shfl(T v, unsigned int rank) const { return gocuda::value<T>(gocuda::exchange(gocuda::opShuffle, mask, gocuda::bits(v), nth(rank % size()))); }
    template <class T> T shfl_up(T v, unsigned int delta) const {
        unsigned int r = thread_rank();
        return shfl(v, r >= delta ? r - delta : r);
    }
    template <class T> T shfl_down(T v, unsigned int delta) const {
        unsigned int r = thread_rank();
        return shfl(v, r + delta < size() ? r + delta : r);
    }
    template <class T> T shfl_xor(T v, unsigned int with) const {
        unsigned int to = thread_rank() ^ with;
        return shfl(v, to < size() ? to : thread_rank());
    }

  private:
    // nth is the lane of a rank.
    unsigned int nth(unsigned int rank) const {
        unsigned int m = mask;
        while (rank--) m &= m - 1;
        return __ffs((int)m) - 1;
    }
    // pack turns a mask of lanes into one of ranks.
    unsigned int pack(unsigned int lanes) const {
        unsigned int r = 0, at = 0;
        for (unsigned int i = 0; i < 32; i++)
            if (mask >> i & 1) r |= (lanes >> i & 1) << at++;
        return r;
    }
};

struct coalesced_group : lanes {};
inline coalesced_group coalesced_threads() {
    coalesced_group g;
    g.mask = __activemask();
    return g;
}

template <unsigned int Size, class Parent = void> struct thread_block_tile : lanes {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
    unsigned int meta_group_rank() const { return thread_block::thread_rank() / Size; }
    unsigned int meta_group_size() const { return (thread_block::size() + Size - 1) / Size; }
};

template <unsigned int Size, class Parent> thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
    thread_block_tile<Size, Parent> t;
    unsigned int first = gocuda::lane() & ~(Size - 1), left = thread_block::size() - (thread_block::thread_rank() - gocuda::lane());
    unsigned int mask = Size == 32 ? ~0u : (1u << Size % 32) - 1;
    t.mask = mask << first;
    if (left < 32) t.mask &= (1u << left) - 1;
    return t;
}

template <class Group> void sync(const Group &g) { g.sync(); }

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <class T, class Op> T reduce(const lanes &g, T v, Op op) {
    T all = g.shfl(v, 0);
    for (unsigned int i = 1; i < g.size(); i++) all = op(all, g.shfl(v, i));
    return all;
}
template <class T, class Op> T inclusive_scan(const lanes &g, T v, Op op) {
    T r = v;
    for (unsigned int d = 1; d < g.size(); d *= 2) {
        T o = g.shfl_up(r, d);
        if (g.thread_rank() >= d) r = op(o, r);
    }
    return r;
}
template <class T> T inclusive_scan(const lanes &g, T v) { return inclusive_scan(g, v, plus<T>()); }
template <class T> T exclusive_scan(const lanes &g, T v) {
    T r = g.shfl_up(inclusive_scan(g, v), 1);
    return g.thread_rank() ? r : T();
}

template <class Group, class T> void memcpy_async(const Group &g, T *dst, const T *src, size_t bytes) {
    for (size_t i = g.thread_rank(); i < bytes / sizeof(T); i += g.size()) dst[i] = src[i];
}
template <class Group> void wait(const Group &g) { g.sync(); }

} // namespace cooperative_groups
#endif
