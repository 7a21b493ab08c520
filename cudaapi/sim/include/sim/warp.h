// Shuffles, votes and matches: the lanes of a mask meet, the last one works out
// every lane's answer.
#pragma once

namespace gocuda {

enum { opShuffle, opBallot, opMatchAny, opMatchAll, opAdd, opMin, opMax, opMinU, opMaxU, opAnd, opOr, opXor, opSync };

static GOCUDA_RAW void answer(Warp *warp, gocuda_u32 lanes, gocuda_u32 op) {
    gocuda_u64 all = 0;
    bool first = true, same = true;
    gocuda_u64 first_in = 0;
    for (gocuda_u32 i = 0; i < 32; i++) {
        if (!(lanes >> i & 1)) continue;
        gocuda_u64 v = warp->in[i];
        if (first) first_in = v;
        same = same && v == first_in;
        switch (op) {
        case opBallot: all |= (gocuda_u64)(v != 0) << i; break;
        case opAdd: all = first ? v : (gocuda_u32)(all + v); break;
        case opMin: all = first || (int)v < (int)all ? v : all; break;
        case opMax: all = first || (int)v > (int)all ? v : all; break;
        case opMinU: all = first || (gocuda_u32)v < (gocuda_u32)all ? v : all; break;
        case opMaxU: all = first || (gocuda_u32)v > (gocuda_u32)all ? v : all; break;
        case opAnd: all = first ? v : all & v; break;
        case opOr: all |= v; break;
        case opXor: all ^= v; break;
        }
        first = false;
    }
    for (gocuda_u32 i = 0; i < 32; i++) {
        if (!(lanes >> i & 1)) continue;
        gocuda_u64 r = all;
        if (op == opShuffle) {
            // A lane that does not take part has no value to give: keep one's own.
            gocuda_u32 from = warp->arg[i];
            r = lanes >> from & 1 ? warp->in[from] : warp->in[i];
        } else if (op == opMatchAny) {
            r = 0;
            for (gocuda_u32 j = 0; j < 32; j++)
                if ((lanes >> j & 1) && warp->in[j] == warp->in[i]) r |= 1u << j;
        } else if (op == opMatchAll) {
            r = same ? lanes : 0;
        }
        warp->out[i] = r;
    }
}

// settle ends the exchanges whose lanes have all arrived or returned.
static GOCUDA_RAW void settle(Block *b, Warp *warp) {
    for (gocuda_u32 g = 0; g < warp->ngroups;) {
        Group *q = &warp->groups[g];
        if ((q->mask & warp->live) != q->arrived) {
            g++;
            continue;
        }
        gocuda_u32 lanes = q->arrived, op = q->op;
        *q = warp->groups[--warp->ngroups];
        answer(warp, lanes, op);
        for (gocuda_u32 i = 0; i < 32; i++)
            if ((lanes >> i & 1) && warp->waiting[i]) {
                append(b->ready, warp->waiting[i]);
                warp->waiting[i] = nullptr;
            }
    }
}

// exchange meets the other lanes of the mask and returns this lane's answer.
static __attribute__((noinline)) GOCUDA_RAW gocuda_u64 exchange(gocuda_u32 op, gocuda_u32 mask, gocuda_u64 v, gocuda_u32 arg) {
    Thread *t = self();
    Block *b = t->block;
    Warp *warp = &b->warps[t->rank / 32];
    gocuda_u32 lane = t->rank % 32;
    asm volatile("" ::: "memory");
    tell(t);
    mask |= 1u << lane;
    warp->in[lane] = v;
    warp->arg[lane] = arg;
    warp->waiting[lane] = nullptr;
    gocuda_u32 g = 0;
    while (g < warp->ngroups && (warp->groups[g].mask != mask || (warp->groups[g].arrived >> lane & 1))) g++;
    if (g == warp->ngroups) warp->groups[warp->ngroups++] = {mask, 0, op};
    warp->groups[g].arrived |= 1u << lane;
    if ((mask & warp->live) == warp->groups[g].arrived) {
        settle(b, warp);
    } else {
        warp->waiting[lane] = t;
        suspend(t);
    }
    asm volatile("" ::: "memory");
    return warp->out[lane];
}

// active is the mask of the lanes that are here together: all of the warp that
// get here before the block cannot go on otherwise.
static __attribute__((noinline)) GOCUDA_RAW gocuda_u32 active() {
    Thread *t = self();
    Warp *warp = &t->block->warps[t->rank / 32];
    gocuda_u32 lane = t->rank % 32;
    asm volatile("" ::: "memory");
    tell(t);
    warp->converging |= 1u << lane;
    warp->waiting[lane] = t;
    suspend(t);
    asm volatile("" ::: "memory");
    return (gocuda_u32)warp->out[lane];
}

// converge lets the lanes that wait in active go on. It reports whether there
// were any.
static GOCUDA_RAW bool converge(Block *b, gocuda_u32 warps) {
    bool any = false;
    for (gocuda_u32 i = 0; i < warps; i++) {
        Warp *warp = &b->warps[i];
        for (gocuda_u32 j = 0; j < 32; j++)
            if (warp->converging >> j & 1) {
                warp->out[j] = warp->converging;
                append(b->ready, warp->waiting[j]);
                warp->waiting[j] = nullptr;
                any = true;
            }
        warp->converging = 0;
    }
    return any;
}

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
