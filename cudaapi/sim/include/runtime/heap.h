// What kernels allocate: blocks of their context's heap, which lie one after another, each
// behind its size. The size's lowest bit says that the block is in use.
#pragma once

namespace gocuda {

struct Heap {
    gocuda_u64 lock, next; // where the search begins
    gocuda_u64 size[];     // of the first block; 0: all the rest

    static GOCUDA_RAW gocuda_u64 &at(gocuda_u64 p) { return *(gocuda_u64 *)p; }

    GOCUDA_RAW void enter() {
        while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {}
    }
    GOCUDA_RAW void leave() { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

    // find takes a block of n bytes from lo to before hi; 0 if there is none.
    GOCUDA_RAW gocuda_u64 find(gocuda_u64 lo, gocuda_u64 hi, gocuda_u64 n, gocuda_u64 end) {
        for (gocuda_u64 p = lo; p < hi; p += at(p) & ~1ul) {
            if (at(p) & 1) continue;
            gocuda_u64 have = at(p) ? at(p) : end - p;
            for (gocuda_u64 q = p + have; q < end && !(at(q) & 1); q = p + have) {
                if (next == q) next = p;
                have += at(q) ? at(q) : end - q;
            }
            at(p) = have;
            if (have < n) continue;
            if (have - n >= 32) at(p + n) = p + have < end ? have - n : 0, at(p) = n;
            at(p) |= 1;
            next = p;
            return p;
        }
        return 0;
    }
};

} // namespace gocuda

GOCUDA_CALL void *gocuda_heap_malloc(unsigned long n) {
    using namespace gocuda;
    Launch *l = self()->worker->launch;
    if (!l->heap || n > GOCUDA_HEAP) return nullptr;
    Heap *h = (Heap *)l->heap;
    gocuda_u64 first = (gocuda_u64)h->size, end = l->heap + GOCUDA_HEAP, need = (n + 31) & ~15ul; // behind 16 bytes
    h->enter();
    if (!h->next) h->next = first;
    gocuda_u64 from = h->next, p = h->find(from, end, need, end);
    if (!p) p = h->find(first, from, need, end);
    h->leave();
    return p ? (void *)(p + 16) : nullptr;
}

GOCUDA_CALL void gocuda_heap_free(void *block) {
    using namespace gocuda;
    Launch *l = self()->worker->launch;
    if (!block) return;
    gocuda_u64 p = (gocuda_u64)block - 16;
    if (p - l->heap >= GOCUDA_HEAP || p & 15 || !(Heap::at(p) & 1)) fail(1, (gocuda_u64)block, 1, 1);
    Heap *h = (Heap *)l->heap;
    h->enter();
    Heap::at(p) &= ~1ul;
    h->leave();
}
