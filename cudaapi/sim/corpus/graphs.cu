// Graphs in compressed rows: vertex v's neighbours are adj[off[v]] to adj[off[v + 1] - 1].

#define VERTEX(v) int v = blockIdx.x * blockDim.x + threadIdx.x; if (v >= n) return

extern "C" __global__ void bfs_level(const int *off, const int *adj, int *dist, int n, int level) {
    VERTEX(v);
    if (dist[v] != level) return;
    for (int e = off[v]; e < off[v + 1]; e++)
        if (dist[adj[e]] < 0) dist[adj[e]] = level + 1;
}

// counts[level] vertices of from are level's. Who reaches a vertex first puts it into to.
extern "C" __global__ void bfs_frontier(const int *off, const int *adj, int *dist, const int *from, int *to, int *counts, int level) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < counts[level]; i += gridDim.x * blockDim.x) {
        int v = from[i];
        for (int e = off[v]; e < off[v + 1]; e++)
            if (atomicCAS(&dist[adj[e]], -1, level + 1) == -1) to[atomicAdd(&counts[level + 1], 1)] = adj[e];
    }
}

extern "C" __global__ void components(const int *off, const int *adj, int *label, int n) {
    VERTEX(v);
    for (int e = off[v]; e < off[v + 1]; e++) atomicMin(&label[adj[e]], label[v]);
}

typedef unsigned long long u64;

extern "C" __global__ void rank_pull(const int *off, const int *adj, const u64 *rank, u64 *next, int n) {
    VERTEX(v);
    u64 sum = 0;
    for (int e = off[v]; e < off[v + 1]; e++) {
        int u = adj[e];
        sum += rank[u] / max(off[u + 1] - off[u], 1);
    }
    next[v] = 150000 + sum * 85 / 100;
}

extern "C" __global__ void rank_push(const int *off, const int *adj, const u64 *rank, u64 *sum, int n) {
    VERTEX(v);
    int degree = off[v + 1] - off[v];
    for (int e = off[v]; e < off[v + 1]; e++) atomicAdd(&sum[adj[e]], rank[v] / degree);
}

extern "C" __global__ void rank_damp(u64 *sum, int n) {
    VERTEX(v);
    sum[v] = 150000 + sum[v] * 85 / 100;
}

// The rows are sorted. A triangle counts at its least vertex.
extern "C" __global__ void triangles(const int *off, const int *adj, int *count, int n) {
    VERTEX(v);
    for (int e = off[v]; e < off[v + 1]; e++) {
        int u = adj[e];
        if (u <= v) continue;
        for (int i = e + 1, j = off[u]; i < off[v + 1] && j < off[u + 1];) {
            if (adj[i] == adj[j]) {
                if (adj[i] > u) atomicAdd(count, 1);
                i++;
                j++;
            } else if (adj[i] < adj[j]) {
                i++;
            } else {
                j++;
            }
        }
    }
}

extern "C" __global__ void relax_edges(const int *off, const int *adj, const int *weight, int *dist, int n) {
    VERTEX(v);
    int d = dist[v];
    if (d == 0x7fffffff) return;
    for (int e = off[v]; e < off[v + 1]; e++) atomicMin(&dist[adj[e]], d + weight[e]);
}

extern "C" __global__ void peel(const int *off, const int *adj, int *degree, int *alive, int n, int k) {
    VERTEX(v);
    if (!alive[v] || degree[v] >= k) return;
    alive[v] = 0;
    for (int e = off[v]; e < off[v + 1]; e++) atomicSub(&degree[adj[e]], 1);
}

// States: 0 undecided, 1 in the set, 2 beside it.
extern "C" __global__ void independent_set(const int *off, const int *adj, const unsigned *priority, const int *state, int *next, int n) {
    VERTEX(v);
    int s = state[v], best = 1;
    for (int e = off[v]; e < off[v + 1] && s == 0; e++) {
        int u = adj[e];
        if (state[u] == 1) s = 2;
        if (state[u] == 0 && (priority[u] > priority[v] || (priority[u] == priority[v] && u > v))) best = 0;
    }
    next[v] = s == 0 && best ? 1 : s;
}

extern "C" __global__ void shortest_paths(int *d, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int via = d[y * n + k] + d[k * n + x];
    if (via < d[y * n + x]) d[y * n + x] = via;
}
