// The same calls as percall/main.go, in CUDA C++: what a call costs without Go. Build: nvcc -O2 -arch=native percall.cu -o percall
// Each line: name, unit, median of seven rounds. An argument "calls" leaves out the copies.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t e = (call);                                                      \
    if (e != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

__global__ void empty() {}
__global__ void sixteen(float *, float *, float *, float *, float *, float *, float *, float *, int, int, int, int, int,
                        int, int, int) {}

using Clock = std::chrono::steady_clock;
static double seconds(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// perCall prints the median over seven rounds of the mean time of one call.
template <class Call, class Drain> void perCall(const char *name, int n, Call call, Drain drain) {
  for (int i = 0; i < n / 10; i++) call();
  drain();
  std::vector<double> rounds;
  for (int r = 0; r < 7; r++) {
    auto t = Clock::now();
    for (int i = 0; i < n; i++) call();
    rounds.push_back(seconds(t) / n * 1e6);
    drain();
  }
  std::printf("c++ %-32s us    %9.3f\n", name, median(rounds));
}

// mallocsAndFrees prints what the two calls take each, in turns of 64.
static void mallocsAndFrees(cudaStream_t s, int turns) {
  void *held[64];
  std::vector<double> mallocs, frees;
  for (int r = 0; r < 8; r++) {
    double m = 0, f = 0;
    for (int i = 0; i < turns; i++) {
      auto t = Clock::now();
      for (auto &p : held) cudaMallocAsync(&p, 4096, s);
      m += seconds(t);
      t = Clock::now();
      for (auto p : held) cudaFreeAsync(p, s);
      f += seconds(t);
    }
    CHECK(cudaStreamSynchronize(s));
    if (r == 0) continue;
    mallocs.push_back(m / turns / 64 * 1e6);
    frees.push_back(f / turns / 64 * 1e6);
  }
  std::printf("c++ %-32s us    %9.3f\n", "malloc async", median(mallocs));
  std::printf("c++ %-32s us    %9.3f\n", "free async", median(frees));
}

static void peerCopies(cudaStream_t s) {
  const size_t most = size_t(1) << 30;
  char *a, *b;
  CHECK(cudaMalloc(&a, most));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaSetDevice(1));
  CHECK(cudaMalloc(&b, most));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  CHECK(cudaSetDevice(0));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  for (size_t n : {size_t(4) << 10, size_t(1) << 20, size_t(64) << 20, most}) {
    std::vector<double> rounds;
    for (int r = 0; r < 8; r++) {
      CHECK(cudaEventRecord(start, s));
      for (int i = 0; i < 20; i++) CHECK(cudaMemcpyPeerAsync(b, 1, a, 0, n, s));
      CHECK(cudaEventRecord(end, s));
      CHECK(cudaEventSynchronize(end));
      float ms;
      CHECK(cudaEventElapsedTime(&ms, start, end));
      if (r > 0) rounds.push_back(ms / 20 * 1e3);
    }
    double us = median(rounds);
    std::printf("c++ peer copy %9zu KiB          us    %9.3f   GB/s %8.1f\n", n >> 10, us, n / us / 1e3);
  }

  // The staged copy of notebook 04: two portable pinned buffers, events, no CPU wait.
  for (size_t chunk : {size_t(1) << 20, size_t(4) << 20, size_t(16) << 20}) {
    void *stage[2];
    cudaEvent_t filled[2], emptied[2];
    cudaStream_t from, to;
    CHECK(cudaStreamCreateWithFlags(&from, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++) {
      CHECK(cudaHostAlloc(&stage[i], chunk, cudaHostAllocPortable));
      CHECK(cudaEventCreateWithFlags(&filled[i], cudaEventDisableTiming));
    }
    CHECK(cudaSetDevice(1));
    CHECK(cudaStreamCreateWithFlags(&to, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++) CHECK(cudaEventCreateWithFlags(&emptied[i], cudaEventDisableTiming));
    std::vector<double> rounds;
    for (int r = 0; r < 6; r++) {
      auto t = Clock::now();
      int k = 0;
      for (size_t off = 0; off < most; off += chunk, k ^= 1) {
        CHECK(cudaSetDevice(0));
        CHECK(cudaStreamWaitEvent(from, emptied[k], 0));
        CHECK(cudaMemcpyAsync(stage[k], a + off, chunk, cudaMemcpyDeviceToHost, from));
        CHECK(cudaEventRecord(filled[k], from));
        CHECK(cudaSetDevice(1));
        CHECK(cudaStreamWaitEvent(to, filled[k], 0));
        CHECK(cudaMemcpyAsync(b + off, stage[k], chunk, cudaMemcpyHostToDevice, to));
        CHECK(cudaEventRecord(emptied[k], to));
      }
      CHECK(cudaStreamSynchronize(from));
      CHECK(cudaStreamSynchronize(to));
      if (r > 0) rounds.push_back(seconds(t));
    }
    std::printf("c++ staged copy, %2zu MiB chunks      GB/s  %9.1f\n", chunk >> 20, most / median(rounds) / 1e9);
    CHECK(cudaSetDevice(0));
  }
}

int main(int argc, char **argv) {
  int devices;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(0));
  cudaStream_t s, other;
  cudaEvent_t event;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  auto drain = [&] { CHECK(cudaDeviceSynchronize()); };
  const int n = 20000;
  perCall("launch", n, [&] { empty<<<1, 1, 0, s>>>(); }, drain);
  perCall("launch, 16 arguments", n, [&] { sixteen<<<1, 1, 0, s>>>(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8); }, drain);
  perCall("launch and synchronize", n / 5, [&] { empty<<<1, 1, 0, s>>>(); cudaStreamSynchronize(s); }, drain);
  perCall("event record", n, [&] { cudaEventRecord(event, s); }, drain);
  perCall("stream wait event", n, [&] { cudaStreamWaitEvent(other, event, 0); }, drain);
  perCall("stream query", n, [&] { cudaStreamQuery(s); }, drain);
  perCall("malloc and free async", n / 5, [&] { void *p; cudaMallocAsync(&p, 4096, s); cudaFreeAsync(p, s); }, drain);
  mallocsAndFrees(s, n / 5 / 64);
  bool copies = argc < 2 || std::strcmp(argv[1], "calls") != 0;
  if (copies && devices > 1) peerCopies(s);
}
