// Cooperative groups: blocks, tiles of warps, coalesced threads and grids.
#pragma once

#ifndef GOCUDA_COOPERATIVE_GROUPS
#define GOCUDA_COOPERATIVE_GROUPS

namespace gocuda {
static GOCUDA_INLINE GOCUDA_RAW bool cooperative() { return self()->worker->launch->cooperative != 0; }
} // namespace gocuda

namespace cooperative_groups {

// thread_group is any group of a block's threads: all of them, or lanes of a warp.
struct thread_group {
    unsigned int mask = 0; // of the lanes; 0 is the block
    unsigned int meta_rank = 0, meta_size = 1;

    static unsigned int block_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
    static unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
    void sync() const {
        if (mask) __syncwarp(mask);
        else __syncthreads();
    }
    unsigned int num_threads() const { return mask ? __popc(mask) : block_size(); }
    unsigned int size() const { return num_threads(); }
    unsigned int thread_rank() const { return mask ? __popc(mask & ((1u << gocuda::lane()) - 1)) : block_rank(); }
    bool is_valid() const { return true; }
};

// arrival_token is what barrier_arrive gives: here barrier_wait does it all.
struct arrival_token {};

struct thread_block : thread_group {
    typedef unsigned int index_type;
    typedef cooperative_groups::arrival_token arrival_token;
    static void sync() { __syncthreads(); }
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(arrival_token &&) { __syncthreads(); }
    static unsigned int thread_rank() { return block_rank(); }
    static unsigned int num_threads() { return block_size(); }
    static unsigned int size() { return block_size(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
};
inline thread_block this_thread_block() { return thread_block(); }

struct grid_group {
    typedef cooperative_groups::arrival_token arrival_token;
    static void sync() { gocuda::arrive_grid(); }
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(arrival_token &&) { sync(); }
    static bool is_valid() { return gocuda::cooperative(); }
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

// cluster_group is blocks that run together and reach each other's shared memory.
struct cluster_group {
    typedef cooperative_groups::arrival_token arrival_token;
    static void sync() { gocuda::arrive_cluster(); }
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(arrival_token &&) { sync(); }
    static unsigned int block_rank() { return gocuda::cluster_rank(); }
    static unsigned int num_blocks() { return gocuda::cluster_size(); }
    static unsigned int thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static unsigned int num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned int size() { return num_threads(); }
    template <class T> static T *map_shared_rank(T *p, int rank) { return (T *)gocuda::cluster_shared((void *)p, (unsigned)rank); }
};
inline cluster_group this_cluster() { return cluster_group(); }

// lanes is what tiles and coalesced threads share: some lanes of one warp.
struct lanes : thread_group {
    unsigned int num_threads() const { return __popc(mask); }
    unsigned int size() const { return num_threads(); }
    unsigned int thread_rank() const { return __popc(mask & ((1u << gocuda::lane()) - 1)); }
    unsigned int meta_group_rank() const { return meta_rank; }
    unsigned int meta_group_size() const { return meta_size; }
    void sync() const { __syncwarp(mask); }
    int any(int p) const { return __any_sync(mask, p); }
    int all(int p) const { return __all_sync(mask, p); }
    unsigned int ballot(int p) const { return pack(__ballot_sync(mask, p)); }
    template <class T> unsigned int match_any(T v) const { return pack(__match_any_sync(mask, v)); }
    template <class T> unsigned int match_all(T v, int &same) const { return pack(__match_all_sync(mask, v, &same)); }
    template <class T> T shfl(T v, unsigned int rank) const { return from(v, nth(rank % size())); }
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

    // part is the lanes of a mask as a group of their own.
    template <class Group> static Group part(unsigned int mask, unsigned int rank, unsigned int size) {
        Group g;
        g.mask = mask, g.meta_rank = rank, g.meta_size = size;
        return g;
    }
    // nth is the lane of a rank.
    unsigned int nth(unsigned int rank) const {
        if (mask == ~0u) return rank;
        unsigned int m = mask;
        while (rank--) m &= m - 1;
        return __ffs((int)m) - 1;
    }

  private:
    // from is a lane's value, in as many exchanges as it takes.
    template <class T> T from(T v, unsigned int lane) const {
        if constexpr (sizeof(T) <= 8) {
            return gocuda::value<T>(gocuda::exchange(gocuda::opShuffle, mask, gocuda::bits(v), lane));
        } else {
            static_assert(sizeof(T) <= 32, "a shuffle moves values of up to 32 bytes");
            unsigned char *p = (unsigned char *)&v;
            for (unsigned int i = 0; i < sizeof(T); i += 8) {
                unsigned int n = sizeof(T) - i < 8 ? sizeof(T) - i : 8;
                gocuda_u64 word = 0;
                __builtin_memcpy(&word, p + i, n);
                word = gocuda::exchange(gocuda::opShuffle, mask, word, lane);
                __builtin_memcpy(p + i, &word, n);
            }
            return v;
        }
    }
    // pack turns a mask of lanes into one of ranks.
    unsigned int pack(unsigned int lanes) const {
        if (mask == ~0u) return lanes;
        unsigned int r = 0, at = 0;
        for (unsigned int i = 0; i < 32; i++)
            if (mask >> i & 1) r |= (lanes >> i & 1) << at++;
        return r;
    }
};

struct coalesced_group : lanes {};
// Each place in the code is one at which threads meet.
static GOCUDA_INLINE coalesced_group coalesced_threads() { return lanes::part<coalesced_group>(__activemask(), 0, 1); }

template <unsigned int Size, class Parent = void> struct thread_block_tile : lanes {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
    thread_block_tile() = default;
    template <class Other> thread_block_tile(const thread_block_tile<Size, Other> &t) : lanes(t) {}
    static constexpr unsigned int num_threads() { return Size; }
    static constexpr unsigned int size() { return Size; }
};

// tile is this thread's part of a group that is cut into pieces of so many
// threads.
template <class Group> Group tile(const thread_group &parent, unsigned int n) {
    unsigned int rank = parent.thread_rank(), all = parent.num_threads(), first = rank - rank % n, mask = 0;
    if (parent.mask) {
        lanes whole = lanes::part<lanes>(parent.mask, 0, 1);
        for (unsigned int r = first; r < first + n && r < all; r++) mask |= 1u << whole.nth(r);
    } else {
        unsigned int m = n < all - first ? n : all - first;
        mask = (m == 32 ? ~0u : (1u << m) - 1) << first % 32;
    }
    return lanes::part<Group>(mask, rank / n, (all + n - 1) / n);
}

template <unsigned int Size, class Parent> thread_block_tile<Size, Parent> tiled_partition(const Parent &g) {
    return tile<thread_block_tile<Size, Parent>>(g, Size);
}
inline thread_group tiled_partition(const thread_group &g, unsigned int n) { return tile<thread_group>(g, n); }
inline coalesced_group tiled_partition(const coalesced_group &g, unsigned int n) { return tile<coalesced_group>(g, n); }

// labeled_partition is the threads of a group that give the same label.
template <class T> coalesced_group labeled_partition(const lanes &g, T label) {
    unsigned int same = __match_any_sync(g.mask, label), first = same & -same, before = 0, groups = 0;
    unsigned int firsts = __ballot_sync(g.mask, first >> gocuda::lane() & 1);
    for (unsigned int i = 0; i < 32; i++)
        if (firsts >> i & 1) groups++, before += (1u << i) < first;
    return lanes::part<coalesced_group>(same, before, groups);
}
inline coalesced_group binary_partition(const lanes &g, bool p) {
    unsigned int yes = __ballot_sync(g.mask, p);
    return lanes::part<coalesced_group>(p ? yes : g.mask & ~yes, p, 2);
}

template <class Group> void sync(const Group &g) { g.sync(); }
template <class Group> auto thread_rank(const Group &g) { return g.thread_rank(); }
template <class Group> auto group_size(const Group &g) { return g.size(); }
template <class Group, class F, class... A> void invoke_one(const Group &g, F &&f, A &&...a) {
    if (g.thread_rank() == 0) f((A &&)a...);
}

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <class T, class Op> T reduce(const lanes &g, T v, Op op) {
    unsigned int n = g.size();
    if ((n & (n - 1)) == 0) {
        for (unsigned int d = n / 2; d; d /= 2) v = op(v, g.shfl_xor(v, d));
        return v;
    }
    T all = g.shfl(v, 0);
    for (unsigned int i = 1; i < n; i++) all = op(all, g.shfl(v, i));
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
// The first thread's exclusive scan is zero, whatever the operation.
template <class T, class Op> T exclusive_scan(const lanes &g, T v, Op op) {
    T r = g.shfl_up(inclusive_scan(g, v, op), 1);
    return g.thread_rank() ? r : T();
}
template <class T> T exclusive_scan(const lanes &g, T v) { return exclusive_scan(g, v, plus<T>()); }

template <class Group, class T> void memcpy_async(const Group &g, T *dst, const T *src, size_t bytes) {
    for (size_t i = g.thread_rank(); i < bytes / sizeof(T); i += g.size()) dst[i] = src[i];
}
template <class Group> void wait(const Group &g) { g.sync(); }
template <unsigned int N, class Group> void wait_prior(const Group &g) { g.sync(); }

} // namespace cooperative_groups
#endif
