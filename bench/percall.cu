// The same calls as percall/main.go, in CUDA C++: what they cost without Go.
// Build: nvcc -O2 -arch=native percall.cu -o percall. bench/turns tells what to
// measure. Each loop makes the same calls, on as many handles, and looks at what
// each gives, but for launches, after which nothing is asked (as <<<>>> is used).
#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t gave = (call);                                                   \
    if (gave != cudaSuccess) {                                                   \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(gave)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

__global__ void empty() {}
__global__ void sixteen(float *, float *, float *, float *, float *, float *, float *, float *, int, int, int, int, int,
                        int, int, int) {}

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double, std::nano>(Clock::now() - t).count(); }

// timed is what a loop of n calls takes, in nanoseconds, after a shorter one.
template <class Loop> double timed(int n, Loop loop) {
  loop(n / 5 + 1);
  CHECK(cudaDeviceSynchronize());
  auto t = Clock::now();
  loop(n);
  double took = since(t);
  CHECK(cudaDeviceSynchronize());
  return took;
}

using Measure = std::function<double(int n)>;

template <class Call> Measure loopOf(Call call) {
  return [call](int n) {
    return timed(n, [&](int n) {
      for (int i = 0; i < n; i++) call();
    });
  };
}

// mallocsAndFrees is what n calls of either take, in turns of 64.
static void mallocsAndFrees(cudaStream_t s, int n, double *mallocs, double *frees) {
  void *held[64];
  *mallocs = *frees = 0;
  for (int i = 0; i < n / 64; i++) {
    auto t = Clock::now();
    for (auto &p : held) CHECK(cudaMallocAsync(&p, 4096, s));
    *mallocs += since(t);
    t = Clock::now();
    for (auto p : held) CHECK(cudaFreeAsync(p, s));
    *frees += since(t);
  }
  CHECK(cudaStreamSynchronize(s));
}

static std::map<std::string, Measure> callLoops(cudaStream_t s) {
  cudaStream_t other;
  cudaEvent_t event;
  float *x;
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaMalloc(&x, 64));
  auto either = [s](int n, bool malloc) {
    double mallocs, frees;
    mallocsAndFrees(s, n / 5, &mallocs, &frees);
    mallocsAndFrees(s, n, &mallocs, &frees);
    return malloc ? mallocs : frees;
  };
  return {
      {"launch", loopOf([=] { empty<<<1, 1, 0, s>>>(); })},
      {"launch, 16 arguments", loopOf([=] { sixteen<<<1, 1, 0, s>>>(x, x, x, x, x, x, x, x, 1, 2, 3, 4, 5, 6, 7, 8); })},
      {"launch and synchronize", loopOf([=] {
         empty<<<1, 1, 0, s>>>();
         CHECK(cudaStreamSynchronize(s));
       })},
      {"event record", loopOf([=] { CHECK(cudaEventRecord(event, s)); })},
      {"stream wait event", loopOf([=] { CHECK(cudaStreamWaitEvent(other, event, 0)); })},
      {"stream query", loopOf([=] {
         cudaError_t e = cudaStreamQuery(s);
         if (e != cudaErrorNotReady) CHECK(e);
       })},
      {"malloc and free async", loopOf([=] {
         void *p;
         CHECK(cudaMallocAsync(&p, 4096, s));
         CHECK(cudaFreeAsync(p, s));
       })},
      {"malloc async", [=](int n) { return either(n, true); }},
      {"free async", [=](int n) { return either(n, false); }},
  };
}

// Peer is what copies between two devices need.
struct Peer {
  char *a = nullptr, *b = nullptr;
  size_t size = 0; // of the largest copy so far
  cudaStream_t s, out, in;
  cudaEvent_t start, end, filled[2], emptied[2];
  void *stage[2];

  Peer() {
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) {
      CHECK(cudaHostAlloc(&stage[i], 16 << 20, cudaHostAllocPortable));
      CHECK(cudaEventCreateWithFlags(&filled[i], cudaEventDisableTiming));
    }
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    CHECK(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking));
    for (auto &e : emptied) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    CHECK(cudaSetDevice(0));
  }

  void grow(size_t bytes) {
    if (size >= bytes) return;
    CHECK(cudaFree(a));
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaSetDevice(1));
    CHECK(cudaFree(b));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaSetDevice(0));
    size = bytes;
  }

  // copies is the device's time of n peer copies.
  double copies(int n, size_t bytes) {
    grow(bytes);
    CHECK(cudaMemcpyPeerAsync(b, 1, a, 0, bytes, s));
    CHECK(cudaEventRecord(start, s));
    for (int i = 0; i < n; i++) CHECK(cudaMemcpyPeerAsync(b, 1, a, 0, bytes, s));
    CHECK(cudaEventRecord(end, s));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    return ms * 1e6;
  }

  // staged copies n chunks through two pinned buffers in turn, without a wait of
  // the CPU: the staged copy of notebook 04.
  double staged(int n, size_t chunk) {
    grow(n * chunk);
    auto t = Clock::now();
    for (int i = 0; i < n; i++) {
      size_t at = i * chunk;
      int k = i % 2;
      CHECK(cudaStreamWaitEvent(out, emptied[k], 0));
      CHECK(cudaMemcpyAsync(stage[k], a + at, chunk, cudaMemcpyDeviceToHost, out));
      CHECK(cudaEventRecord(filled[k], out));
      CHECK(cudaSetDevice(1));
      CHECK(cudaStreamWaitEvent(in, filled[k], 0));
      CHECK(cudaMemcpyAsync(b + at, stage[k], chunk, cudaMemcpyHostToDevice, in));
      CHECK(cudaEventRecord(emptied[k], in));
      CHECK(cudaSetDevice(0));
    }
    CHECK(cudaStreamSynchronize(out));
    CHECK(cudaStreamSynchronize(in));
    return since(t);
  }
};

int main() {
  int devices;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(0));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  uint64_t keep = INT64_MAX; // the pool keeps what is freed
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  auto loops = callLoops(s);
  Peer *peer = nullptr;
  std::cout << "ready" << std::endl;
  int n;
  size_t bytes;
  std::string name;
  while (std::cin >> n >> bytes && std::getline(std::cin >> std::ws, name)) {
    auto loop = loops.find(name);
    bool copy = name == "peer copy" || name == "staged copy";
    if (copy && devices > 1 && !peer) peer = new Peer;
    double took;
    if (loop != loops.end()) {
      took = loop->second(n);
    } else if (name == "peer copy" && peer) {
      took = peer->copies(n, bytes);
    } else if (name == "staged copy" && peer) {
      peer->staged(n / 5 + 1, bytes);
      took = peer->staged(n, bytes);
    } else {
      std::cout << "-" << std::endl;
      continue;
    }
    std::cout << static_cast<int64_t>(took) << std::endl;
  }
}
