// What mpibench symmetric measures, in CUDA C++ alone: the same kernels on two GPUs of one
// process, a thread for each, beside NCCL with plain buffers and with symmetric windows.
//
//	nvcc -O3 -std=c++17 -arch=native -I cudaapi/internal/headers/include -I cudaapi/mpi/mpibench bench/symmetric_cuda.cu -o symmetric -lpthread -ldl
//	NCCL_NVLS_ENABLE=0 ./symmetric [LIBNCCL]
#include <symmetric.cu>

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)); exit(1); } } while (0)
#define NCCL(x) do { int e = (x); if (e != 0) { fprintf(stderr, "%s: %d\n", #x, e); exit(1); } } while (0)

constexpr int ranks = 2, rounds = 7, calls = 1000, captured = 100;

// NCCL's functions, without its header.
typedef void *comm_t;
static int (*ncclCommInitAll)(comm_t *, int, const int *);
static int (*ncclAllReduce)(const void *, void *, size_t, int, int, comm_t, cudaStream_t);
static int (*ncclReduceScatter)(const void *, void *, size_t, int, int, comm_t, cudaStream_t);
static int (*ncclAllGather)(const void *, void *, size_t, int, comm_t, cudaStream_t);
static int (*ncclMemAlloc)(void **, size_t);
static int (*ncclCommWindowRegister)(comm_t, void *, size_t, void **, int);
static int (*ncclGetVersion)(int *);
constexpr int float32 = 7, sum = 0, collective_window = 1;

// meet has all ranks' threads wait for each other.
struct Meeting {
    std::mutex m;
    std::condition_variable c;
    int here = 0, turn = 0;
    void meet() {
        std::unique_lock<std::mutex> l(m);
        int t = turn;
        if (++here == ranks) { here = 0; turn++; c.notify_all(); }
        else c.wait(l, [&] { return turn != t; });
    }
} meeting;

// Two memories of symmetric words, as package symmetric lays them out.
template <class T> void make(gocuda::symmetric<T> *w, size_t n) {
    namespace sizes = gocuda::symmetric_words;
    const size_t head = (n * sizeof(T) + 255) / 256 * 256, words = 2 * sizes::signals + 2 * sizes::blocks * sizes::ranks;
    char *at[ranks];
    for (int r = 0; r < ranks; r++) {
        CHECK(cudaSetDevice(r));
        CHECK(cudaMalloc(&at[r], head + 4 * words));
        CHECK(cudaMemset(at[r], 0, head + 4 * words));
        CHECK(cudaDeviceSynchronize());
    }
    for (int r = 0; r < ranks; r++) {
        unsigned *stop;
        CHECK(cudaHostAlloc(&stop, 64, cudaHostAllocPortable | cudaHostAllocMapped));
        *stop = 0;
        for (int p = 0; p < ranks; p++) {
            w[r].memory[p] = {(T *)at[p], (long long)n, (long long)n};
            w[r].control[p] = {(unsigned *)(at[p] + head), (long long)words, (long long)words};
        }
        w[r].stop = {stop, 1, 1};
        w[r].me = r;
        w[r].all = ranks;
    }
}

static double spent(std::function<void()> f) {
    auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

static double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

// figure measures what launch queues, from the host and from a graph, at one rank.
static void figure(int rank, const char *name, cudaStream_t s, std::function<void()> launch, bool graph = true) {
    std::vector<double> queued, replayed;
    launch();
    CHECK(cudaStreamSynchronize(s));
    cudaGraphExec_t x = nullptr;
    if (graph) {
        meeting.meet();
        cudaGraph_t g;
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < captured; i++) launch();
        CHECK(cudaStreamEndCapture(s, &g));
        CHECK(cudaGraphInstantiate(&x, g, 0));
    }
    for (int round = 0; round <= rounds; round++) {
        meeting.meet();
        double us = spent([&] { for (int i = 0; i < calls; i++) launch(); CHECK(cudaStreamSynchronize(s)); }) / calls;
        if (round) queued.push_back(us);
        if (!graph) continue;
        meeting.meet();
        us = spent([&] { for (int i = 0; i < calls / captured; i++) CHECK(cudaGraphLaunch(x, s)); CHECK(cudaStreamSynchronize(s)); }) / calls;
        if (round) replayed.push_back(us);
    }
    if (rank == 0) {
        printf("| %s | %.2f |", name, median(queued));
        if (graph) printf(" %.2f |\n", median(replayed)); else printf(" |\n");
        fflush(stdout);
    }
    if (x) CHECK(cudaGraphExecDestroy(x));
    meeting.meet();
}

static window floats[ranks], rows[ranks], edges[ranks];
static packs packed[ranks];
static comm_t comms[ranks];
static bool nccl, windows;

static void rank_main(int r) {
    CHECK(cudaSetDevice(r));
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    unsigned *turns, *turns2;
    CHECK(cudaMalloc(&turns, 4096)); CHECK(cudaMemset(turns, 0, 4096));
    CHECK(cudaMalloc(&turns2, 4096)); CHECK(cudaMemset(turns2, 0, 4096));
    float *data;
    CHECK(cudaMalloc(&data, 1 << 20)); CHECK(cudaMemset(data, 0, 1 << 20));
    void *registered = nullptr, *win;
    if (windows) {
        NCCL(ncclMemAlloc(&registered, 1 << 20));
        CHECK(cudaMemset(registered, 0, 1 << 20));
        meeting.meet();
        NCCL(ncclCommWindowRegister(comms[r], registered, 1 << 20, &win, collective_window));
    }
    CHECK(cudaDeviceSynchronize());
    if (r == 0) printf("| us | queued | captured |\n|---|---|---|\n");
    for (int bytes : {4, 64, 1024, 4096, 16384, 65536}) {
        const int n = bytes / 4, block = std::min(256, (n + 31) / 32 * 32), grid = (n + block - 1) / block;
        const std::string of = "all-reduce of " + std::to_string(bytes) + " B, ";
        figure(r, (of + "LL").c_str(), s, [&] { reduce_ll<<<grid, block, 0, s>>>(packed[r], data, n, turns); });
        figure(r, (of + "barrier").c_str(), s, [&] { reduce_push<<<grid, block, 0, s>>>(floats[r], data, n, turns2); });
        if (nccl) figure(r, (of + "NCCL").c_str(), s, [&] { NCCL(ncclAllReduce(data, data, n, float32, sum, comms[r], s)); });
        if (windows) figure(r, (of + "NCCL, windows").c_str(), s, [&] { NCCL(ncclAllReduce(registered, registered, n, float32, sum, comms[r], s)); });
    }
    for (int nx : {1024, 4096}) {
        const int ny = 256;
        float *a, *b, *zero;
        CHECK(cudaMalloc(&a, 4l * nx * ny)); CHECK(cudaMemset(a, 0, 4l * nx * ny));
        CHECK(cudaMalloc(&b, 4l * nx * ny)); CHECK(cudaMemset(b, 0, 4l * nx * ny));
        CHECK(cudaMalloc(&zero, 4l * nx)); CHECK(cudaMemset(zero, 0, 4l * nx));
        // Signals are counted from the start of a memory.
        meeting.meet();
        if (r == 0) { make(edges, 4 * nx); CHECK(cudaSetDevice(0)); }
        meeting.meet();
        CHECK(cudaDeviceSynchronize());
        unsigned turn = 0;
        figure(r, ("halo of " + std::to_string(4 * nx) + " B, puts from kernels").c_str(), s, [&] {
            turn++;
            halo_step<<<dim3((nx + 255) / 256, ny), 256, 0, s>>>(edges[r], turn % 2 ? a : b, turn % 2 ? b : a, nx, ny, turn);
        }, false);
        figure(r, ("halo of " + std::to_string(4 * nx) + " B, kernel alone").c_str(), s, [&] { plain_step<<<dim3((nx + 255) / 256, ny), 256, 0, s>>>(a, b, zero, zero, nx, ny); }, false);
    }
    const int n = 4096, each = 32;
    float *part;
    CHECK(cudaMalloc(&part, 4l * each * n));
    figure(r, "norm, fused", s, [&] { fused_norm<<<each, 256, 0, s>>>(rows[r], n); });
    figure(r, "norm, three launches", s, [&] {
        scatter_rows<<<each, 256, 0, s>>>(rows[r], part, n);
        norm_rows<<<each, 256, 0, s>>>(part, n);
        gather_rows<<<each, 256, 0, s>>>(rows[r], part, n);
    });
    if (nccl) {
        float *all = rows[r].local();
        figure(r, "norm, NCCL's reduce-scatter and all-gather", s, [&] {
            NCCL(ncclReduceScatter(all, part, (size_t)each * n, float32, sum, comms[r], s));
            norm_rows<<<each, 256, 0, s>>>(part, n);
            NCCL(ncclAllGather(part, all, (size_t)each * n, float32, comms[r], s));
        });
    }
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv) {
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices < ranks) { fprintf(stderr, "two GPUs are needed\n"); return 1; }
    for (int r = 0; r < ranks; r++) {
        CHECK(cudaSetDevice(r));
        CHECK(cudaDeviceEnablePeerAccess(1 - r, 0));
    }
    void *lib = dlopen(argc > 1 ? argv[1] : "libnccl.so.2", RTLD_NOW);
    if (lib) {
        *(void **)&ncclCommInitAll = dlsym(lib, "ncclCommInitAll");
        *(void **)&ncclAllReduce = dlsym(lib, "ncclAllReduce");
        *(void **)&ncclReduceScatter = dlsym(lib, "ncclReduceScatter");
        *(void **)&ncclAllGather = dlsym(lib, "ncclAllGather");
        *(void **)&ncclMemAlloc = dlsym(lib, "ncclMemAlloc");
        *(void **)&ncclCommWindowRegister = dlsym(lib, "ncclCommWindowRegister");
        *(void **)&ncclGetVersion = dlsym(lib, "ncclGetVersion");
        int version = 0;
        ncclGetVersion(&version);
        const int list[ranks] = {0, 1};
        nccl = ncclCommInitAll(comms, ranks, list) == 0;
        windows = nccl && ncclMemAlloc && ncclCommWindowRegister;
        printf("NCCL %d, windows: %d\n", version, windows);
    } else {
        printf("no NCCL: %s\n", dlerror());
    }
    make(floats, 2 * ranks * 16384);
    make(packed, 2 * ranks * 16384);
    make(rows, ranks * 32 * 4096);
    for (int r = 0; r < ranks; r++) {
        std::vector<float> ones(ranks * 32 * 4096, 1);
        CHECK(cudaSetDevice(r));
        CHECK(cudaMemcpy(rows[r].local(), ones.data(), 4 * ones.size(), cudaMemcpyHostToDevice));
    }
    std::vector<std::thread> all;
    for (int r = 0; r < ranks; r++) all.emplace_back(rank_main, r);
    for (auto &t : all) t.join();
    return 0;
}
