// The check of every access to memory. The compiler calls these before each
// load and store of device code (-fsanitize=kernel-address, with all of it but
// the calls switched off); GOCUDA_SIM_CHECK=0 compiles without the calls.
//
// With g++ on x86-64 the calls of the usual sizes do not stay in the code
// (asm.go replaces them): each place in the code that accesses memory, its
// site, remembers a region where it has found all to be right, and looks only
// whether the next access lies there too. A region is its start and how many
// accesses of that size fit, so that one comparison is enough; an address that
// is not aligned, turned round by its lowest bits, is never below that. Sites
// belong to a worker, and register r15 leads to them. Where accesses are
// counted the register leads to sites that no access fits: of those only how
// often they are passed is noted.
#pragma once

#ifdef GOCUDA_CHECK
namespace gocuda {

// mark says of a word that others may mark too. Most are marked already.
template <class T> static GOCUDA_INLINE GOCUDA_RAW void mark(T *at, T bits) {
    if ((__atomic_load_n(at, __ATOMIC_RELAXED) & bits) != bits) __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
}

// span marks bits from first to before last.
static GOCUDA_INLINE GOCUDA_RAW void span(gocuda_u64 *at, gocuda_u64 first, gocuda_u64 last) {
    for (gocuda_u64 k = first >> 6; first < last; k++, first = k << 6) {
        gocuda_u64 bits = ~0ul << (first & 63);
        if (last < (k + 1) << 6) bits &= ~0ul >> (((k + 1) << 6) - last);
        mark(at + k, bits);
    }
}

// trace marks that n bytes are touched, at o from the start of the devices' memory. A
// kind is the sum of 1 if it is read, 16 if it is written and 256 if it is changed by
// atomic operations. A piece of memory has, for each of these, a bit for each whole
// word, and behind these one for each byte of words that are touched in part.
static GOCUDA_RAW void trace(Launch *l, gocuda_u64 o, gocuda_u64 n, gocuda_u32 kind) {
    for (gocuda_u64 end = o + n; o < end;) {
        gocuda_u64 piece = o >> GOCUDA_PIECE, stop = (piece + 1) << GOCUDA_PIECE;
        if (stop > end) stop = end;
        gocuda_u64 lo = o & ((1 << GOCUDA_PIECE) - 1), hi = lo + (stop - o);
        gocuda_u64 first = (lo + 3) >> 2, last = hi >> 2;
        bool parts = (lo | hi) & 3;
        for (int mode = 0; mode < 3; mode++) {
            if (!(kind >> (4 * mode) & 1)) continue;
            gocuda_u64 *words = (gocuda_u64 *)(l->traces + piece * GOCUDA_MARKS + mode * GOCUDA_MARKS / 16);
            gocuda_u64 *bytes = (gocuda_u64 *)(l->traces + piece * GOCUDA_MARKS + 3 * GOCUDA_MARKS / 16 + mode * GOCUDA_MARKS / 4);
            span(words, first, last);
            if (!parts) continue;
            if (first > last) {
                span(bytes, lo, hi);
            } else {
                span(bytes, lo, first << 2);
                span(bytes, last << 2, hi);
            }
        }
        mark(l->traced + piece, (gocuda_u8)(parts ? 3 : 1));
        o = stop;
    }
}

// traced gives where the marks of an address are: those of the module's own memory lie
// behind those of the devices'.
static GOCUDA_INLINE GOCUDA_RAW bool traced(Launch *l, gocuda_u64 a, gocuda_u64 &o) {
    o = a - l->base;
    if (o < l->size) return true;
    o = a - l->image[0] + l->size;
    return a >= l->image[0] && a < l->image[1] && o - l->size < GOCUDA_IMAGE_MARKS;
}

// elsewhere checks an access outside of the devices' address space.
static __attribute__((noinline)) GOCUDA_RAW bool elsewhere(Thread *t, gocuda_u64 a, gocuda_u64 n) {
    Worker *w = t->worker;
    Launch *l = w->launch;
    if (a >= l->image[0] && a + n <= l->image[1]) return true;
    gocuda_u64 s = (gocuda_u64)t->shared;
    if (a >= s && a + n <= s + l->shared) {
        if (t->counts) t->accessed[4] += n;
        return true;
    }
    if (l->heap && a - l->heap < GOCUDA_HEAP) return true;
    Block *b = t->block;
    for (gocuda_u32 i = 0; b->mates > 1 && i < b->mates; i++) // of the cluster's other blocks
        if ((a >= (gocuda_u64)b->mate[i]->shared && a + n <= (gocuda_u64)b->mate[i]->shared + l->shared) ||
            (a >= (gocuda_u64)b->mate[i]->kept && a + n <= (gocuda_u64)b->mate[i]->kept + (t->tls[1] - t->tls[0])))
            return true;
    for (gocuda_u64 i = 0; i < l->nranges; i += 2)
        if (a >= l->ranges[i] && a + n <= l->ranges[i + 1]) return true;
    return a - (gocuda_u64)w->stacks < GOCUDA_STACK * w->nstacks;
}

// note counts an access to the devices' memory.
static __attribute__((noinline)) GOCUDA_RAW void note(Thread *t, gocuda_u64 a, gocuda_u64 n, gocuda_u32 write) {
    Worker *w = t->worker;
    Launch *l = w->launch;
    gocuda_u64 i = 0, had = t->accessed[write];
    while (i < l->nareas && (a < l->areas[2 * i] || a >= l->areas[2 * i + 1])) i++;
    w->touched[2 * (i < l->nareas ? i : GOCUDA_AREAS) + write] += n;
    t->accessed[write] = had + n;
    t->accessed[2 + write]++;
    if (__builtin_expect((had ^ (had + n)) >> 20, 0)) tire(); // once in a million bytes
}

// touch marks an access that no trail has.
static GOCUDA_INLINE GOCUDA_RAW void touch(gocuda_u64 a, gocuda_u64 n, gocuda_u32 kind) {
    Thread *t = self();
    Launch *l = t->worker->launch;
    gocuda_u64 o;
    if (__builtin_expect(l->traces != 0, 0) && traced(l, a, o)) trace(l, o, n, t->atomic ? 256 : kind);
}

// check lets the access of n bytes at a go on, or fails. align is what the
// access's type asks for; line is where it stands, 0 if that is not known.
static GOCUDA_INLINE GOCUDA_RAW void check(gocuda_u64 a, gocuda_u64 n, gocuda_u32 write, gocuda_u64 align, gocuda_u32 line = 0) {
    Thread *t = self();
    if (__builtin_expect(a & (align - 1), 0)) fail(5, a, (gocuda_u32)n, write, nullptr, line);
    gocuda_u64 o = a - t->base;
    if (__builtin_expect(o < t->size, 1)) {
        gocuda_u64 have = t->valid[o >> 9], end = (o & 511) + n;
        if (t->counts) note(t, a, n, write);
        if (__builtin_expect(end <= have && t->reachable[o >> t->shift], 1)) return;
        // An unaligned access may cross from one granule to the next.
        if (end > 512 && have == 512 && t->valid[(o + n - 1) >> 9] >= ((o + n - 1) & 511) + 1 &&
            t->reachable[o >> t->shift])
            return;
    } else {
        if (__builtin_expect(!--t->budget, 0)) tire();
        if ((a ^ (gocuda_u64)t) < GOCUDA_STACK) return;
        if (a >= t->tls[0] && a + n <= t->tls[1]) {
            if (t->counts) t->accessed[4] += n;
            return;
        }
        if (elsewhere(t, a, n)) return;
    }
    touch(a, n, write ? 16 : 1); // memory that was freed before its time, perhaps
    fail(1, a, (gocuda_u32)n, write, nullptr, line);
}

#ifdef GOCUDA_SITES
// region finds memory around an address of which all is right, if it knows some.
static GOCUDA_RAW bool region(Thread *t, gocuda_u64 a, gocuda_u64 &lo, gocuda_u64 &hi) {
    Worker *w = t->worker;
    Launch *l = w->launch;
    gocuda_u64 shared = (gocuda_u64)t->shared, stacks = (gocuda_u64)w->stacks;
    lo = hi = 0;
    for (gocuda_u64 i = 0; i < l->nregions; i += 2)
        if (a >= l->regions[i] && a < l->regions[i + 1]) lo = l->regions[i], hi = l->regions[i + 1];
    if (a - stacks < GOCUDA_STACK * w->nstacks) lo = stacks, hi = stacks + GOCUDA_STACK * w->nstacks;
    else if (a >= t->tls[0] && a < t->tls[1]) lo = t->tls[0], hi = t->tls[1];
    else if (a >= l->image[0] && a < l->image[1]) lo = l->image[0], hi = l->image[1];
    else if (a - shared < l->shared && w->slots == 1) lo = shared, hi = shared + l->shared;
    return hi > lo;
}

// trail_of is the trail of a site.
static GOCUDA_INLINE GOCUDA_RAW Trail *trail_of(gocuda_u64 *site) {
    gocuda_u64 at = (gocuda_u64)site & (GOCUDA_SITES_SIZE - 1);
    return (Trail *)((gocuda_u64)site - at + GOCUDA_SITES_SIZE + 2 * at);
}

// finish marks a trail.
static GOCUDA_RAW void finish(Worker *w, Trail *r, gocuda_u32 kind) {
    gocuda_u64 o;
    if (kind && r->next > r->start && traced(w->launch, r->start, o)) trace(w->launch, o, r->next - r->start, kind);
}

// finish_all marks the trails that are left when a worker has done its part.
static GOCUDA_RAW void finish_all(Worker *w) {
    for (gocuda_u64 i = 0; i < w->trails; i++) finish(w, trail_of(w->traced + 2 * i), w->kinds[i]);
}

// leads reports whether an access lies on the site's trail, or next to it, and so is
// right; it is on the trail then. Sites of no trail have an empty one that leads
// nowhere.
static GOCUDA_INLINE GOCUDA_RAW bool leads(gocuda_u64 a, gocuda_u64 n, gocuda_u64 align, gocuda_u64 *site) {
    Trail *r = trail_of(site);
    gocuda_u64 start = r->start, next = r->next, end = a + n;
    if (__builtin_expect(a & (align - 1), 0)) return false;
    if (__builtin_expect(a - start <= next - start, 1)) {
        if (end <= next) return r->high != 0;
        if (end > r->high) return false;
        r->next = end;
        return true;
    }
    if (end != start || a < r->low || !r->high) return false;
    r->start = a;
    return true;
}

// starts begins a site's trail with an access that was right.
static GOCUDA_RAW void starts(gocuda_u64 a, gocuda_u64 n, gocuda_u64 *site, gocuda_u32 kind) {
    Thread *t = self();
    Worker *w = t->worker;
    gocuda_u64 o;
    bool device = traced(w->launch, a, o);
    if (t->atomic) {
        if (device) trace(w->launch, o, n, 256);
        return;
    }
    Trail *r = trail_of(site);
    gocuda_u64 i = (site - w->traced) / 2;
    finish(w, r, w->kinds[i]);
    if (a >= r->low && a + n <= r->high) {
        r->start = a, r->next = a + n;
        return;
    }
    gocuda_u64 lo, hi;
    if (!region(t, a, lo, hi) || a + n > hi) lo = a, hi = a + n;
    w->kinds[i] = device ? kind : 0;
    r->start = device ? a : lo, r->next = device ? a + n : hi;
    r->low = lo, r->high = hi;
}

// learn makes a site remember the region of an access that was right.
static __attribute__((noinline)) GOCUDA_RAW void learn(gocuda_u64 a, gocuda_u64 n, gocuda_u64 align, gocuda_u64 *site, gocuda_u32 write, gocuda_u32 kind) {
    Thread *t = self();
    Worker *w = t->worker;
#ifndef GOCUDA_RACES // order_access has done it: others may not come in between what is told and what is done
    if (__builtin_expect(w->poke, 0)) {
        w->poke = 0;
        tire();
    }
#endif
    if (t->counts) {
        if (!write && a - t->base < t->size) site[0]++;
        if (!w->trails) return;
        site = w->traced + (site - w->nosites);
        if (leads(a, n, align, site)) return;
    }
    if (w->trails) {
        starts(a, n, site, kind);
        return;
    }
    gocuda_u64 lo, hi;
    if (!region(t, a, lo, hi)) return;
    if (hi - lo < n || lo & (align - 1)) return;
    site[1] = 0;
    site[0] = lo;
    site[1] = (hi - lo - n) / align + 1;
}
#endif

} // namespace gocuda

#define GOCUDA_HOOK extern "C" __attribute__((visibility("hidden"), used)) GOCUDA_RAW void
#ifdef GOCUDA_SITES
// What a site calls when it does not know the access's region.
#define GOCUDA_MISS(kind, n, write, align, bits)                                  \
    GOCUDA_HOOK gocuda_miss_##kind##n(gocuda_u64 a, gocuda_u64 *site, gocuda_u32 line) {           \
        if (gocuda::leads(a, n, align, site)) return;                             \
        gocuda::check(a, n, write, align, line);                                  \
        gocuda::learn(a, n, align, site, write, bits);                            \
    }
#else
#define GOCUDA_MISS(kind, n, write, align, bits)
#endif
// What code calls that has no sites, or an access that has none.
#define GOCUDA_CHECKED(name, n, write, align, bits)   \
    GOCUDA_HOOK __asan_##name##_noabort(gocuda_u64 a) { \
        gocuda::check(a, n, write, align);            \
        gocuda::touch(a, n, bits);                    \
    }
#define GOCUDA_CHECKS(n, align)             \
    GOCUDA_CHECKED(load##n, n, 0, align, 1)   \
    GOCUDA_CHECKED(store##n, n, 1, align, 16) \
    GOCUDA_CHECKED(both##n, n, 0, align, 17)  \
    GOCUDA_MISS(load, n, 0, align, 1)         \
    GOCUDA_MISS(both, n, 0, align, 17)        \
    GOCUDA_MISS(store, n, 1, align, 16)
GOCUDA_CHECKS(1, 1)
GOCUDA_CHECKS(2, 2)
GOCUDA_CHECKS(4, 4)
GOCUDA_CHECKS(8, 8)
GOCUDA_CHECKS(16, 8) // the compiler uses it for eight-byte alignment too
GOCUDA_HOOK __asan_loadN_noabort(gocuda_u64 a, gocuda_u64 n) {
    gocuda::check(a, n, 0, 1);
    gocuda::touch(a, n, 1);
}
GOCUDA_HOOK __asan_storeN_noabort(gocuda_u64 a, gocuda_u64 n) {
    gocuda::check(a, n, 1, 1);
    gocuda::touch(a, n, 16);
}
#ifdef GOCUDA_SITES
// What a site of PTX calls (asm.go): with the compiler's values in all registers but rdi, rsi and rdx.
#define GOCUDA_SPARE(name, to)                                                                       \
    asm(".text\n.hidden gocuda_spare_" name "\n.globl gocuda_spare_" name "\n.type gocuda_spare_" name ", @function\ngocuda_spare_" name ":\n" \
        "pushq %rbp\nmovq %rsp, %rbp\npushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %r8\npushq %r9\npushq %r10\npushq %r11\n" \
        "andq $-32, %rsp\nsubq $512, %rsp\n" GOCUDA_EACH(GOCUDA_KEEP) "call " to "\n" GOCUDA_EACH(GOCUDA_BACK)         \
        "leaq -64(%rbp), %rsp\npopq %r11\npopq %r10\npopq %r9\npopq %r8\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\n" \
        "popq %rbp\nret\n.size gocuda_spare_" name ", .-gocuda_spare_" name "\n");
namespace gocuda {
// counted counts the accesses of eight lanes at once, if all of them are right and nobody wants to
// know more.
static GOCUDA_RAW bool counted(Thread *t, gocuda_u64 a, gocuda_u64 n, gocuda_u64 *site, gocuda_u64 align, long by, gocuda_u32 write) {
    Worker *w = t->worker;
    gocuda_u64 lo, hi, last = a + 7 * by, first = by < 0 ? last : a;
    if (by < 0) last = a;
    if (!t->counts || w->trails || w->poke || !site || (a | (gocuda_u64)by) & (align - 1)) return false;
    if (!region(t, first, lo, hi) || last < first || last + n > hi) return false;
    if (a - t->base < t->size) {
        note(t, a, 8 * n, write);
        t->accessed[2 + write] += 7;
        if (!write) site[0] += 8;
        return true;
    }
    if (lo != t->tls[0] || t->budget <= 8) return false;
    t->budget -= 8;
    t->accessed[4] += 8 * n;
    return true;
}
} // namespace gocuda
// What a site of eight lanes calls: each does its access.
#define GOCUDA_NEAR(kind, n, align, write)                                                                         \
    GOCUDA_HOOK gocuda_near_##kind##n(gocuda_u64 a, gocuda_u64 *site, gocuda_u32 line, long by) {                  \
        gocuda::Thread *t = gocuda::self();                                                                        \
        if (gocuda::counted(t, a, n, site, align, by, write)) return;                                              \
        gocuda_u32 first = t->order;                                                                               \
        for (gocuda_u32 i = 0; i < 8; i++, a += by) t->order = first + i, site ? gocuda_miss_##kind##n(a, site, line) : __asan_##kind##n##_noabort(a); \
        t->order = first;                                                                                          \
    }                                                                                                              \
    GOCUDA_SPARE("near_" #kind #n, "gocuda_near_" #kind #n)
#define GOCUDA_SPARES(n, align)                                 \
    GOCUDA_NEAR(load, n, align, 0)                              \
    GOCUDA_NEAR(store, n, align, 1)                             \
    GOCUDA_SPARE("load" #n, "gocuda_miss_load" #n)              \
    GOCUDA_SPARE("store" #n, "gocuda_miss_store" #n)            \
    GOCUDA_SPARE("plain_load" #n, "__asan_load" #n "_noabort")  \
    GOCUDA_SPARE("plain_store" #n, "__asan_store" #n "_noabort")
GOCUDA_SPARES(1, 1)
GOCUDA_SPARES(2, 2)
GOCUDA_SPARES(4, 4)
GOCUDA_SPARES(8, 8)
GOCUDA_SPARES(16, 8)
#endif
GOCUDA_HOOK __asan_handle_no_return() {}
#endif
