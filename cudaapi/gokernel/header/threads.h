// Numbers of 16 bits are reckoned with as f32, and rounded: for one operation that
// is the nearest number of theirs.
#ifndef __GOCUDA_SIM__
GO_FUNC u16 narrow_f16(f32 x) { u16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }
GO_FUNC f32 widen_f16(u16 h) { f32 x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h)); return x; }
#else
static inline u16 narrow_f16(f32 x) {
    u32 b = cast<u32>(x), sign = b >> 16 & 0x8000u;
    b &= 0x7fffffffu;
    if (b > 0x7f800000u) return 0x7fff;
    if (b >= 0x477ff000u) return (u16)(sign | 0x7c00u);
    if (b < 0x38800000u) return (u16)(sign | (u32)(u16)::rint(cast<f32>(b) * 16777216.0f));
    b -= 112u << 23;
    b += 0xfffu + (b >> 13 & 1u);
    return (u16)(sign | b >> 13);
}
static inline f32 widen_f16(u16 h) {
    u32 sign = (u32)(h & 0x8000u) << 16, exp = h >> 10 & 0x1fu, frac = h & 0x3ffu;
    if (exp == 0) return cast<f32>(cast<u32>((f32)frac * 5.9604644775390625e-8f) | sign);
    if (exp == 0x1f) return cast<f32>(sign | 0x7f800000u | frac << 13);
    return cast<f32>(sign | (exp + 112u) << 23 | frac << 13);
}
#endif
GO_FUNC u16 narrow_bf16(f32 x) {
    u32 b = cast<u32>(x);
    if ((b & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (u16)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
GO_FUNC f32 widen_bf16(u16 h) { return cast<f32>((u32)h << 16); }
#define GO_HALF(H) \
    struct H { \
        u16 bits; \
        H() = default; \
        __device__ __forceinline__ explicit H(f32 x) : bits(narrow_##H(x)) {} \
        __device__ __forceinline__ explicit operator f32() const { return widen_##H(bits); } \
    }; \
    GO_FUNC H operator+(H a, H b) { return H((f32)a + (f32)b); } \
    GO_FUNC H operator-(H a, H b) { return H((f32)a - (f32)b); } \
    GO_FUNC H operator*(H a, H b) { return H((f32)a * (f32)b); } \
    GO_FUNC H operator/(H a, H b) { return H((f32)a / (f32)b); } \
    GO_FUNC H operator-(H a) { H r; r.bits = a.bits ^ 0x8000; return r; } \
    GO_FUNC bool operator==(H a, H b) { return (f32)a == (f32)b; } \
    GO_FUNC bool operator!=(H a, H b) { return (f32)a != (f32)b; } \
    GO_FUNC bool operator<(H a, H b) { return (f32)a < (f32)b; } \
    GO_FUNC bool operator<=(H a, H b) { return (f32)a <= (f32)b; } \
    GO_FUNC bool operator>(H a, H b) { return (f32)a > (f32)b; } \
    GO_FUNC bool operator>=(H a, H b) { return (f32)a >= (f32)b; } \
    GO_FUNC H min(H a, H b) { return H(float_min((f32)a, (f32)b)); } \
    GO_FUNC H max(H a, H b) { return H(float_max((f32)a, (f32)b)); }
GO_HALF(f16)
GO_HALF(bf16)
// odd_fma is x*y+z as f32, whose last bit is set if something was rounded away, so
// that it can be rounded once more. The product is exact in f64.
GO_FUNC f32 odd_fma(f32 x, f32 y, f32 z) {
    f64 p = (f64)x * y, s = p + z, t = s - p, lost = (p - (s - t)) + ((f64)z - t);
    u64 b = cast<u64>(s);
    if (lost != 0 && s - s == 0 && !(b & 1)) s = cast<f64>((lost > 0) == (s > 0) ? b + 1 : b - 1);
    f32 r = (f32)s;
    u32 c = cast<u32>(r);
    if ((f64)r != s && r - r == 0 && !(c & 1)) r = cast<f32>(((f64)r < s) == (r > 0 || (r == 0 && s > 0)) ? c + 1 : c - 1);
    return r;
}

// Functions of package gpu that compute, in the precision of their argument.
#define GO_BOTH(name) GO_FUNC f32 name(f32 x) { return ::name##f(x); } GO_FUNC f64 name(f64 x) { return ::name(x); }
GO_BOTH(sqrt) GO_BOTH(rsqrt) GO_BOTH(exp) GO_BOTH(log) GO_BOTH(sin) GO_BOTH(cos) GO_BOTH(tanh) GO_BOTH(fabs)
#define GO_OF_HALF(name) GO_FUNC f16 name(f16 x) { return f16(name((f32)x)); } GO_FUNC bf16 name(bf16 x) { return bf16(name((f32)x)); }
GO_OF_HALF(sqrt) GO_OF_HALF(rsqrt) GO_OF_HALF(exp) GO_OF_HALF(log) GO_OF_HALF(sin) GO_OF_HALF(cos) GO_OF_HALF(tanh) GO_OF_HALF(fabs)
GO_FUNC f16 pow(f16 x, f16 y) { return f16(::powf((f32)x, (f32)y)); }
GO_FUNC bf16 pow(bf16 x, bf16 y) { return bf16(::powf((f32)x, (f32)y)); }
GO_FUNC f16 fma(f16 x, f16 y, f16 z) { return f16(odd_fma((f32)x, (f32)y, (f32)z)); }
GO_FUNC bf16 fma(bf16 x, bf16 y, bf16 z) { return bf16(odd_fma((f32)x, (f32)y, (f32)z)); }
GO_FUNC f32 pow(f32 x, f32 y) { return ::powf(x, y); }
GO_FUNC f64 pow(f64 x, f64 y) { return ::pow(x, y); }
GO_FUNC f32 fma(f32 x, f32 y, f32 z) { return ::fmaf(x, y, z); }
GO_FUNC f64 fma(f64 x, f64 y, f64 z) { return ::fma(x, y, z); }

extern __shared__ __align__(16) unsigned char shared_memory[];
template <class T> GO_FUNC slice<T> dynamic_shared(i64 n) { return slice<T>{(T *)&shared_memory[0], n, n}; }

// Barriers and fences.
GO_FUNC void sync_threads() { __syncthreads(); }
GO_FUNC i64 sync_threads_count(bool ok) { return __syncthreads_count(ok); }
GO_FUNC bool sync_threads_and(bool ok) { return __syncthreads_and(ok); }
GO_FUNC bool sync_threads_or(bool ok) { return __syncthreads_or(ok); }
GO_FUNC void sync_warp(u32 mask) { __syncwarp(mask); }
GO_FUNC void thread_fence() { __threadfence(); }
GO_FUNC void thread_fence_block() { __threadfence_block(); }
GO_FUNC void thread_fence_system() { __threadfence_system(); }
GO_FUNC i64 clock() { return clock64(); }
GO_FUNC void nanosleep(u32 ns) { __nanosleep(ns); }

// Atomics, for the types that CUDA's have, and by those for the others. The scope is
// the device, the block or the system.
#define GO_BY_CAS(F, U, name, cas, on) \
    GO_FUNC F name(F *p, F v) { \
        U old = *(volatile U *)p; \
        while (on) { U seen = cas((U *)p, old, cast<U>(v)); if (seen == old) break; old = seen; } \
        return cast<F>(old); \
    }
#define GO_ATOMICS(scope) \
    GO_FUNC i32 atomic_add##scope(i32 *p, i32 v) { return atomicAdd##scope(p, v); } \
    GO_FUNC u32 atomic_add##scope(u32 *p, u32 v) { return atomicAdd##scope(p, v); } \
    GO_FUNC u64 atomic_add##scope(u64 *p, u64 v) { return atomicAdd##scope(p, v); } \
    GO_FUNC i64 atomic_add##scope(i64 *p, i64 v) { return (i64)atomicAdd##scope((u64 *)p, (u64)v); } \
    GO_FUNC f32 atomic_add##scope(f32 *p, f32 v) { return atomicAdd##scope(p, v); } \
    GO_FUNC f64 atomic_add##scope(f64 *p, f64 v) { return atomicAdd##scope(p, v); } \
    template <class T> GO_FUNC T atomic_sub##scope(T *p, T v) { return atomic_add##scope(p, neg(v)); } \
    GO_FUNC u32 atomic_inc##scope(u32 *p, u32 v) { return atomicInc##scope(p, v); } \
    GO_FUNC u32 atomic_dec##scope(u32 *p, u32 v) { return atomicDec##scope(p, v); } \
    template <class T> GO_FUNC T atomic_min##scope(T *p, T v) { return atomicMin##scope(p, v); } \
    template <class T> GO_FUNC T atomic_max##scope(T *p, T v) { return atomicMax##scope(p, v); } \
    GO_BY_CAS(f32, u32, atomic_min##scope, atomicCAS##scope, v < cast<f32>(old)) GO_BY_CAS(f32, u32, atomic_max##scope, atomicCAS##scope, cast<f32>(old) < v) \
    GO_BY_CAS(f64, u64, atomic_min##scope, atomicCAS##scope, v < cast<f64>(old)) GO_BY_CAS(f64, u64, atomic_max##scope, atomicCAS##scope, cast<f64>(old) < v) \
    template <class T> GO_FUNC T atomic_and##scope(T *p, T v) { typedef typename bits_of<T>::type U; return (T)atomicAnd##scope((U *)p, (U)v); } \
    template <class T> GO_FUNC T atomic_or##scope(T *p, T v) { typedef typename bits_of<T>::type U; return (T)atomicOr##scope((U *)p, (U)v); } \
    template <class T> GO_FUNC T atomic_xor##scope(T *p, T v) { typedef typename bits_of<T>::type U; return (T)atomicXor##scope((U *)p, (U)v); } \
    template <class T> GO_FUNC T atomic_exch##scope(T *p, T v) { typedef typename bits_of<T>::type U; return cast<T>(atomicExch##scope((U *)p, cast<U>(v))); } \
    template <class T> GO_FUNC void atomic_store##scope(T *p, T v) { typedef typename bits_of<T>::type U; atomicExch##scope((U *)p, cast<U>(v)); } \
    template <class T> GO_FUNC T atomic_load##scope(T *p) { typedef typename bits_of<T>::type U; return cast<T>(*(volatile U *)p); } \
    template <class T> GO_FUNC T atomic_cas##scope(T *p, T old, T v) { typedef typename bits_of<T>::type U; return (T)atomicCAS##scope((U *)p, (U)old, (U)v); }
GO_ATOMICS()
GO_ATOMICS(_block)
GO_ATOMICS(_system)
#define GO_ADD_HALF(H) \
    GO_FUNC H atomic_add(H *p, H v) { \
        H old; \
        old.bits = *(volatile u16 *)p; \
        for (;;) { u16 seen = atomicCAS((u16 *)p, old.bits, (old + v).bits); if (seen == old.bits) return old; old.bits = seen; } \
    }
GO_ADD_HALF(f16)
GO_ADD_HALF(bf16)

// Copies to shared memory that need not wait, in pieces as wide as addresses allow.
#if !defined(__GOCUDA_SIM__) && __CUDA_ARCH__ >= 800
template <int bytes> GO_FUNC void copy_pieces(u32 dst, u64 src, i64 n) {
    for (i64 i = 0; i < n; i += bytes) asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(dst + (u32)i), "l"(src + i), "n"(bytes) : "memory");
}
template <class T> GO_FUNC void copy_async(T *dst, const T *src) {
    u64 low = (u64)dst | (u64)src | sizeof(T);
    if ((low & 3) || !__isShared(dst) || !__isGlobal(src)) { *dst = *src; return; }
    u32 to = (u32)__cvta_generic_to_shared(dst);
    u64 from = (u64)__cvta_generic_to_global(src);
    if (!(low & 15)) copy_pieces<16>(to, from, sizeof(T));
    else if (!(low & 7)) copy_pieces<8>(to, from, sizeof(T));
    else copy_pieces<4>(to, from, sizeof(T));
}
GO_FUNC void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n> GO_FUNC void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory"); }
#else
template <class T> GO_FUNC void copy_async(T *dst, const T *src) { *dst = *src; }
GO_FUNC void commit_copies() {}
template <int n> GO_FUNC void wait_copies() {}
#endif

// Clusters of blocks.
#if !defined(__GOCUDA_SIM__) && __CUDA_ARCH__ >= 900
GO_FUNC i64 cluster_rank() { u32 r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
GO_FUNC i64 cluster_size() { u32 n; asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n)); return n; }
GO_FUNC void sync_cluster() { asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory"); }
template <class T> GO_FUNC T *cluster_shared(T *p, i64 rank) { u64 at; asm("mapa.u64 %0, %1, %2;" : "=l"(at) : "l"(p), "r"((u32)rank)); return (T *)at; }
#elif defined(__GOCUDA_SIM__)
GO_FUNC i64 cluster_rank() { return gocuda::cluster_rank(); }
GO_FUNC i64 cluster_size() { return gocuda::cluster_size(); }
GO_FUNC void sync_cluster() { gocuda::arrive_cluster(); }
template <class T> GO_FUNC T *cluster_shared(T *p, i64 rank) { return (T *)gocuda::cluster_shared(p, (u32)rank); }
#else // a block is a cluster
GO_FUNC i64 cluster_rank() { return 0; }
GO_FUNC i64 cluster_size() { return 1; }
GO_FUNC void sync_cluster() { __syncthreads(); }
template <class T> GO_FUNC T *cluster_shared(T *p, i64) { return p; }
#endif

// Warps.
GO_FUNC i64 thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
GO_FUNC i64 block_threads() { return (i64)blockDim.x * blockDim.y * blockDim.z; }
GO_FUNC i64 grid_rank() { return (blockIdx.x + (i64)gridDim.x * (blockIdx.y + (i64)gridDim.y * blockIdx.z)) * block_threads() + thread_rank(); }
GO_FUNC i64 grid_size() { return (i64)gridDim.x * gridDim.y * gridDim.z * block_threads(); }
GO_FUNC i64 lane_id() { return thread_rank() % 32; }
GO_FUNC u32 active_mask() { return __activemask(); }
template <class G> GO_FUNC G tile(i64 size) {
    i64 rank = thread_rank(), all = block_threads(), first = rank / size * size, n = all - first < size ? all - first : size;
    return G{(u32)(n == 32 ? 0xffffffffu : ((1u << n) - 1) << (first % 32)), first % 32, rank - first, n, rank / size, (all + size - 1) / size};
}
template <class G> GO_FUNC G coalesced() {
    u32 mask = __activemask();
    return G{mask, __ffs((int)mask) - 1, __popc(mask & ((1u << lane_id()) - 1)), __popc(mask), 0, 1};
}
#define GO_SHUFFLE(name, cuda, type) \
    template <class T> GO_FUNC T name(u32 mask, T v, i64 n) { return cuda(mask, v, (type)n); } \
    GO_FUNC f16 name(u32 mask, f16 v, i64 n) { v.bits = (u16)cuda(mask, (u32)v.bits, (type)n); return v; } \
    GO_FUNC bf16 name(u32 mask, bf16 v, i64 n) { v.bits = (u16)cuda(mask, (u32)v.bits, (type)n); return v; }
GO_SHUFFLE(shfl, __shfl_sync, int)
GO_SHUFFLE(shfl_up, __shfl_up_sync, unsigned)
GO_SHUFFLE(shfl_down, __shfl_down_sync, unsigned)
GO_SHUFFLE(shfl_xor, __shfl_xor_sync, int)
GO_FUNC u32 ballot(u32 mask, bool ok) { return __ballot_sync(mask, ok); }
GO_FUNC bool all(u32 mask, bool ok) { return __all_sync(mask, ok); }
GO_FUNC bool any(u32 mask, bool ok) { return __any_sync(mask, ok); }
template <class T> GO_FUNC u32 match_any(u32 mask, T v) { return __match_any_sync(mask, cast<typename bits_of<T>::type>(v)); }
template <class T> GO_FUNC u32 match_all(u32 mask, T v) { int same; return __match_all_sync(mask, cast<typename bits_of<T>::type>(v), &same); }
// A whole warp is joined in pairs, other lanes one by one.
#define GO_REDUCE(name, op) \
    template <class T> GO_FUNC T name(u32 mask, T v) { \
        if (mask == 0xffffffffu) { \
            for (int d = 16; d > 0; d /= 2) { T o = shfl_xor(mask, v, d); v = op; } \
            return v; \
        } \
        T mine = v; \
        v = shfl(mask, mine, __ffs((int)mask) - 1); \
        for (u32 rest = mask & (mask - 1); rest; rest &= rest - 1) { T o = shfl(mask, mine, __ffs((int)rest) - 1); v = op; } \
        return v; \
    }
template <class T> GO_FUNC T sum(T a, T b) { return add(a, b); }
GO_FUNC f32 sum(f32 a, f32 b) { return a + b; }
GO_FUNC f64 sum(f64 a, f64 b) { return a + b; }
GO_FUNC f16 sum(f16 a, f16 b) { return a + b; }
GO_FUNC bf16 sum(bf16 a, bf16 b) { return a + b; }
GO_REDUCE(reduce_add, sum(v, o))
GO_REDUCE(reduce_min, (o < v ? o : v))
GO_REDUCE(reduce_max, (v < o ? o : v))
GO_REDUCE(reduce_and, (v & o))
GO_REDUCE(reduce_or, (v | o))
GO_REDUCE(reduce_xor, (v ^ o))

// Several elements at once, if they are aligned to that.
template <int bytes> struct word { typedef void type; };
template <> struct word<2> { typedef u16 type; };
template <> struct word<4> { typedef u32 type; };
template <> struct word<8> { typedef uint2 type; };
template <> struct word<16> { typedef uint4 type; };
template <class T, int N, class W = typename word<sizeof(T) * N>::type> struct several {
    static __device__ __forceinline__ array<T, N> load(const T *p) {
        union { W w; array<T, N> a; } u;
        if (((u64)p & (sizeof(W) - 1)) == 0) u.w = *(const W *)p;
        else for (int i = 0; i < N; i++) u.a.at[i] = p[i];
        return u.a;
    }
    static __device__ __forceinline__ void store(T *p, const array<T, N> &v) {
        union { array<T, N> a; W w; } u = {v};
        if (((u64)p & (sizeof(W) - 1)) == 0) *(W *)p = u.w;
        else for (int i = 0; i < N; i++) p[i] = v.at[i];
    }
};
template <class T, int N> struct several<T, N, void> {
    static __device__ __forceinline__ array<T, N> load(const T *p) {
        array<T, N> a;
        for (int i = 0; i < N; i++) a.at[i] = p[i];
        return a;
    }
    static __device__ __forceinline__ void store(T *p, const array<T, N> &v) { for (int i = 0; i < N; i++) p[i] = v.at[i]; }
};
template <class T> GO_FUNC array<T, 2> load2(slice<T> x, i64 i) { return several<T, 2>::load(x.ptr + 2 * i); }
template <class T> GO_FUNC array<T, 4> load4(slice<T> x, i64 i) { return several<T, 4>::load(x.ptr + 4 * i); }
template <class T> GO_FUNC void store2(slice<T> x, i64 i, array<T, 2> v) { several<T, 2>::store(x.ptr + 2 * i, v); }
template <class T> GO_FUNC void store4(slice<T> x, i64 i, array<T, 4> v) { several<T, 4>::store(x.ptr + 4 * i, v); }
} // namespace go
