// Barriers, fences, clocks and ways to stop, by their CUDA names.
#pragma once

static GOCUDA_INLINE void __syncthreads() { gocuda::arrive(0); }
static inline GOCUDA_RAW int __syncthreads_count(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->block->result_count; }
static inline GOCUDA_RAW int __syncthreads_or(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->block->result_any; }
static inline GOCUDA_RAW int __syncthreads_and(int p) { gocuda::arrive(p != 0); return (int)gocuda::self()->block->result_all; }
static GOCUDA_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static GOCUDA_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static GOCUDA_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __trap() { gocuda::fail(3, 0, 0, 0); }
static GOCUDA_INLINE void __brkpt() {}
static GOCUDA_INLINE void __nanosleep(unsigned) { gocuda::pause(); }

static GOCUDA_INLINE long long clock64() {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    long long v;
    asm volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#endif
}
typedef long clock_t;
static GOCUDA_INLINE clock_t clock() { return (clock_t)(int)clock64(); }

extern "C" int printf(const char *, ...);

#undef assert
#ifdef NDEBUG
#define assert(x) ((void)0)
#else
#define assert(x) ((x) ? (void)0 : gocuda::fail(2, 0, 0, 0, #x, __LINE__))
#endif
