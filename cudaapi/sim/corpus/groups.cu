// Cooperative groups: what tutorials use of them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

// Sums by any group: of a block through shared memory, of a tile by shuffles.
template <class Group> __device__ int sum(const Group &g, int *scratch, int v) {
    for (int i = g.size() / 2; i > 0; i /= 2) {
        scratch[g.thread_rank()] = v;
        g.sync();
        if (g.thread_rank() < i) v += scratch[g.thread_rank() + i];
        g.sync();
    }
    return v;
}
__device__ int sum_tile(cg::thread_block_tile<32> tile, int v) {
    for (int i = tile.size() / 2; i > 0; i /= 2) v += tile.shfl_down(v, i);
    return v;
}

extern "C" __global__ void group_sums(const int *in, int *out) {
    __shared__ int scratch[128];
    cg::thread_block block = cg::this_thread_block();
    int v = in[block.group_index().x * block.size() + block.thread_rank()];
    int all = sum(block, scratch, v);
    if (block.thread_rank() == 0) atomicAdd(&out[0], all);

    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int part = sum_tile(tile, v);
    if (tile.thread_rank() == 0) atomicAdd(&out[1 + tile.meta_group_rank()], part);

    auto four = cg::tiled_partition<4>(tile);
    int most = cg::reduce(four, v, cg::greater<int>());
    if (four.thread_rank() == 0) atomicAdd(&out[5], most);
    if (four.thread_rank() == 3) atomicAdd(&out[6], four.meta_group_rank());

    cg::thread_group eight = cg::tiled_partition(block, 8);
    int piece = sum(eight, scratch + (block.thread_rank() & ~7), v);
    if (eight.thread_rank() == 0) atomicMax(&out[7], piece);
    block.sync();
    if (block.thread_rank() == 0) out[8] = tile.meta_group_size();
}

// Scans of tiles, and sums of those who have a label in common.
extern "C" __global__ void group_scans(const int *in, int *sums, int *before, int *labels) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    sums[i] = cg::inclusive_scan(tile, v);
    before[i] = cg::exclusive_scan(tile, v, cg::plus<int>());
    cg::coalesced_group same = cg::labeled_partition(tile, v % 3);
    int n = cg::reduce(same, 1, cg::plus<int>());
    cg::coalesced_group odd = cg::binary_partition(tile, v % 2);
    labels[i] = 100 * n + odd.num_threads();
}

// One atomic operation for all threads of a warp that want a place.
extern "C" __global__ void group_filter(const int *in, int n, int *out, int *count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (in[i] % 7 != 0) continue;
        cg::coalesced_group active = cg::coalesced_threads();
        int at;
        if (active.thread_rank() == 0) at = atomicAdd(count, active.size());
        out[active.shfl(at, 0) + active.thread_rank()] = in[i];
    }
}
