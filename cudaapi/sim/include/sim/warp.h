// Shuffles, votes and matches: the lanes of a mask meet, the last one works out
// every lane's answer (runtime/lanes.h).
#pragma once

namespace gocuda {

static GOCUDA_INLINE gocuda_u32 lane() { return load(self()->rank) % 32; }

// bits carries a value of up to eight bytes.
template <class T> static GOCUDA_INLINE gocuda_u64 bits(T v) {
    static_assert(sizeof(T) <= 8, "a shuffle moves values of up to 8 bytes");
    gocuda_u64 b = 0;
    __builtin_memcpy(&b, &v, sizeof(T));
    return b;
}
template <class T> static GOCUDA_INLINE T value(gocuda_u64 b) {
    T v;
    __builtin_memcpy(&v, &b, sizeof(T));
    return v;
}

} // namespace gocuda

template <class T> static GOCUDA_INLINE T __shfl_sync(unsigned mask, T v, int src, int width = 32) {
    unsigned l = gocuda::lane();
    return gocuda::value<T>(gocuda::exchange(gocuda::opShuffle, mask, gocuda::bits(v), (l & ~(width - 1)) | (src & (width - 1))));
}
template <class T> static GOCUDA_INLINE T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
    unsigned l = gocuda::lane(), at = l & (width - 1);
    return gocuda::value<T>(gocuda::exchange(gocuda::opShuffle, mask, gocuda::bits(v), at >= delta ? l - delta : l));
}
template <class T> static GOCUDA_INLINE T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
    unsigned l = gocuda::lane(), at = l & (width - 1);
    return gocuda::value<T>(gocuda::exchange(gocuda::opShuffle, mask, gocuda::bits(v), at + delta < (unsigned)width ? l + delta : l));
}
template <class T> static GOCUDA_INLINE T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32) {
    unsigned l = gocuda::lane(), to = l ^ with;
    // A lane of a later segment is out of reach.
    return gocuda::value<T>(gocuda::exchange(gocuda::opShuffle, mask, gocuda::bits(v), to / width <= l / width ? to : l));
}

static GOCUDA_INLINE unsigned __ballot_sync(unsigned mask, int p) { return (unsigned)gocuda::exchange(gocuda::opBallot, mask, p != 0, 0); }
static GOCUDA_INLINE int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static GOCUDA_INLINE int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }
static GOCUDA_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { gocuda::exchange(gocuda::opSync, mask, 0, 0); }
template <class T> static GOCUDA_INLINE unsigned __match_any_sync(unsigned mask, T v) { return (unsigned)gocuda::exchange(gocuda::opMatchAny, mask, gocuda::bits(v), 0); }
template <class T> static GOCUDA_INLINE unsigned __match_all_sync(unsigned mask, T v, int *same) {
    unsigned r = (unsigned)gocuda::exchange(gocuda::opMatchAll, mask, gocuda::bits(v), 0);
    *same = r != 0;
    return r;
}
static GOCUDA_INLINE int __reduce_add_sync(unsigned mask, int v) { return (int)gocuda::exchange(gocuda::opAdd, mask, (unsigned)v, 0); }
static GOCUDA_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned v) { return (unsigned)gocuda::exchange(gocuda::opAdd, mask, v, 0); }
static GOCUDA_INLINE int __reduce_min_sync(unsigned mask, int v) { return (int)gocuda::exchange(gocuda::opMin, mask, (unsigned)v, 0); }
static GOCUDA_INLINE unsigned __reduce_min_sync(unsigned mask, unsigned v) { return (unsigned)gocuda::exchange(gocuda::opMinU, mask, v, 0); }
static GOCUDA_INLINE int __reduce_max_sync(unsigned mask, int v) { return (int)gocuda::exchange(gocuda::opMax, mask, (unsigned)v, 0); }
static GOCUDA_INLINE unsigned __reduce_max_sync(unsigned mask, unsigned v) { return (unsigned)gocuda::exchange(gocuda::opMaxU, mask, v, 0); }
static GOCUDA_INLINE unsigned __reduce_and_sync(unsigned mask, unsigned v) { return (unsigned)gocuda::exchange(gocuda::opAnd, mask, v, 0); }
static GOCUDA_INLINE unsigned __reduce_or_sync(unsigned mask, unsigned v) { return (unsigned)gocuda::exchange(gocuda::opOr, mask, v, 0); }
static GOCUDA_INLINE unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return (unsigned)gocuda::exchange(gocuda::opXor, mask, v, 0); }
static GOCUDA_INLINE unsigned __activemask() { return gocuda::active(); }
