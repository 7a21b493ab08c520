// What the warps of a launch do, counted. Threads run one after another here, and in warps on a GPU.
// So what a thread does is noted under a key: the stretch of code, the function that called it, and
// which turn of each loop around it. What the lanes of a warp do under one key they do together, as
// lanes that parted meet again behind the branch or loop. It is counted when all of a warp's lanes
// have come to a barrier of the block, or to their end.
//
// One worker runs all of a launch that is counted.
#pragma once

namespace gocuda {

// CountSite and CountStretch have the same layout in count.go of the package.
struct CountSite {
    gocuda_u64 requests, threads; // of warps; lanes that took part
    gocuda_u64 sectors;           // of 32 bytes, in global memory
    gocuda_u64 wavefronts, least; // in shared memory: turns, and without a conflict
    gocuda_u64 met;               // lanes whose address another lane of the request has
    gocuda_u64 most;              // lanes with one address, at most
    gocuda_u64 parted;            // branches that some lanes took
};

struct CountStretch {
    gocuda_u64 warps, threads;
};

enum : gocuda_u64 { countSites = 8192, countPages = 1 << 21, countBuckets = 1 << 16, countBlocks = 4096, countDepth = 64, countFrame = 8 };
enum : gocuda_u32 { countLoad = 0, countStore = 1, countAtomic = 2, countBranch = 3, countIsStretch = 1u << 31 };

// CountNote is what lanes of a warp do together.
struct CountNote {
    gocuda_u64 key;
    gocuda_u32 lanes, number, what, warp; // number: of the site or stretch
    CountNote *next, *after; // in the bucket; in the warp
    gocuda_u64 *a;           // addresses, by lanes
};

struct CountThread {
    gocuda_u64 now; // the stretch, with all that its key is made of
    gocuda_u32 base;
    gocuda_u32 loop[countDepth];
    gocuda_u64 key[countDepth], outer[countDepth], turn[countDepth];
};

struct CountWarp {
    CountNote *first, **end, *cursor; // cursor: what the last lane did next
    gocuda_u32 lane;
};

struct CountBlock {
    gocuda_u32 now; // the warp whose threads a loop runs
    CountWarp warps[32];
    CountThread threads[1024];
};

struct CountPage {
    gocuda_u64 number; // and 1; 0: none
    gocuda_u64 sectors[2][2];
};

struct Counts {
    gocuda_u64 size, used, full; // bytes, and whether there were too few
    gocuda_u64 sectors[2];       // of global memory that was read and written, each once
    gocuda_u64 pages;
    CountSite sites[2][countSites]; // in global and shared memory
    CountStretch stretches[countSites];
    CountNote *spare;
    gocuda_u64 *spareAddresses;
    CountNote *buckets[countBuckets];
    CountBlock *blocks[countBlocks];
    CountPage page[countPages];
};

static GOCUDA_RAW void *count_room(Counts *c, gocuda_u64 n) {
    n = (n + 15) & ~15ul;
    if (c->used + n > c->size) {
        c->full = 1;
        return nullptr;
    }
    void *p = (char *)c + c->used;
    c->used += n;
    return p;
}

static GOCUDA_INLINE GOCUDA_RAW Counts *counts_of(Thread *t) {
    Counts *c = (Counts *)t->worker->launch->order;
    return c && !c->full ? c : nullptr;
}

static GOCUDA_INLINE GOCUDA_RAW gocuda_u64 count_mix(gocuda_u64 key, gocuda_u64 v) {
    key = (key ^ v) * 0x9e3779b97f4a7c15ul;
    return key ^ key >> 29;
}

// count_page marks a sector of global memory.
static GOCUDA_RAW void count_page(Counts *c, gocuda_u64 sector, bool write) {
    gocuda_u64 number = (sector >> 7) + 1, i = number * 0x9e3779b97f4a7c15ul >> 43;
    while (c->page[i].number && c->page[i].number != number) i = (i + 1) % countPages;
    if (!c->page[i].number) {
        if (++c->pages > countPages / 2) {
            c->full = 1;
            return;
        }
        c->page[i].number = number;
    }
    gocuda_u64 &word = c->page[i].sectors[write][sector >> 6 & 1], bit = 1ul << (sector & 63);
    c->sectors[write] += !(word & bit);
    word |= bit;
}

// count_global counts sectors: each once, but of atomic operations, which lanes with one address do one after another.
static GOCUDA_RAW void count_global(Counts *c, CountSite *s, CountNote *n, gocuda_u32 lanes, gocuda_u32 bytes, gocuda_u32 kind) {
    gocuda_u64 seen[64];
    gocuda_u32 count = 0;
    for (gocuda_u32 left = lanes; left; left &= left - 1) {
        gocuda_u64 a = n->a[__builtin_ctz(left)];
        for (gocuda_u64 sector = a >> 5; sector <= (a + bytes - 1) >> 5; sector++) {
            gocuda_u32 i = count;
            while (i && seen[i - 1] != sector) i--; // the last first: mostly it is that
            if (i || count == 64) continue;
            seen[count++] = sector;
            if (kind != countStore) count_page(c, sector, false);
            if (kind != countLoad) count_page(c, sector, true);
        }
    }
    s->sectors += count;
}

// count_banks: shared memory has 32 banks of four bytes. In a turn each bank gives one word, to all lanes that want it.
static GOCUDA_RAW void count_banks(CountSite *s, CountNote *n, gocuda_u32 lanes, gocuda_u32 bytes) {
    if (!lanes) return;
    gocuda_u64 words[128];
    gocuda_u32 count = 0, bank[32] = {}, most = 0;
    for (; lanes; lanes &= lanes - 1) {
        gocuda_u64 a = n->a[__builtin_ctz(lanes)];
        for (gocuda_u64 word = a >> 2; word <= (a + bytes - 1) >> 2; word++) {
            gocuda_u32 i = count;
            while (i && words[i - 1] != word) i--;
            if (i || count == 128) continue;
            words[count++] = word;
            gocuda_u32 in = ++bank[word % 32];
            if (in > most) most = in;
        }
    }
    s->wavefronts += most;
    s->least++;
}

// count_paired: lanes that are so far apart have the same address, where both are there.
static GOCUDA_RAW bool count_paired(CountNote *n, gocuda_u32 apart) {
    for (gocuda_u32 left = n->lanes; left; left &= left - 1) {
        gocuda_u32 i = (gocuda_u32)__builtin_ctz(left);
        if ((n->lanes >> (i ^ apart) & 1) && n->a[i] != n->a[i ^ apart]) return false;
    }
    return true;
}

// count_shared: accesses of eight bytes come by half warps, of sixteen by quarters. Loads of two halves, or of two
// quarters of a half, come together if all lanes in pairs have the same address or one of them is not there: measured on an H200.
static GOCUDA_RAW void count_shared(CountSite *s, CountNote *n, gocuda_u32 bytes, gocuda_u32 kind) {
    if (bytes <= 4) return count_banks(s, n, n->lanes, bytes);
    gocuda_u32 size = bytes > 8 ? 8 : 16;
    bool paired = kind == countLoad && (count_paired(n, 1) || count_paired(n, 2));
    for (gocuda_u32 at = 0; at < 32; at += 2 * size) {
        gocuda_u32 half = (1u << size) - 1, one = n->lanes & half << at, two = n->lanes & half << (at + size);
        if (paired) one |= two, two = 0;
        count_banks(s, n, one, bytes);
        count_banks(s, n, two, bytes);
    }
}

static GOCUDA_RAW void count_note(Counts *c, Block *block, gocuda_u64 shared, CountNote *n) {
    gocuda_u32 lanes = (gocuda_u32)__builtin_popcount(n->lanes);
    if (n->what & countIsStretch) {
        c->stretches[n->number].warps++;
        c->stretches[n->number].threads += lanes;
        return;
    }
    gocuda_u32 kind = n->what >> 16, bytes = n->what & 0xffff;
    gocuda_u64 first = n->a[__builtin_ctz(n->lanes)], offset = first - (gocuda_u64)block->shared;
    bool within = kind != countBranch && offset < shared;
    CountSite *s = &c->sites[within][n->number];
    s->requests++;
    s->threads += lanes;
    if (kind == countBranch) {
        gocuda_u32 took = 0;
        for (gocuda_u32 left = n->lanes; left; left &= left - 1) took += n->a[__builtin_ctz(left)] != 0;
        s->parted += took && took < lanes;
        return;
    }
    if (within) {
        for (gocuda_u32 left = n->lanes; left; left &= left - 1) n->a[__builtin_ctz(left)] -= (gocuda_u64)block->shared;
        count_shared(s, n, bytes, kind);
    } else {
        if (kind != countAtomic) count_global(c, s, n, n->lanes, bytes, kind);
    }
    if (kind != countAtomic) return;
    gocuda_u64 seen[32];
    gocuda_u32 times[32], turn[32] = {}, count = 0, most = 0; // turn: the lanes that come to their addresses as the first, second ...
    for (gocuda_u32 left = n->lanes; left; left &= left - 1) {
        gocuda_u32 lane = (gocuda_u32)__builtin_ctz(left), i = 0;
        while (i < count && seen[i] != n->a[lane]) i++;
        if (i == count) seen[i] = n->a[lane], times[i] = 0, count++;
        turn[times[i]++] |= 1u << lane;
        if (times[i] > most) most = times[i];
    }
    for (gocuda_u32 i = 0; i < most && !within; i++) count_global(c, s, n, turn[i], bytes, kind);
    if (most > s->most) s->most = most;
    s->met += lanes - count;
}

// count_warp counts what a warp's lanes have done.
static __attribute__((noinline)) GOCUDA_RAW void count_warp(Counts *c, Block *block, CountWarp *w, gocuda_u64 shared) {
    for (CountNote *n = w->first, *after; n && !c->full; n = after) {
        after = n->after;
        count_note(c, block, shared, n);
        CountNote **at = &c->buckets[n->key % countBuckets];
        while (*at != n) at = &(*at)->next;
        *at = n->next;
        if (n->a) {
            *(gocuda_u64 **)n->a = c->spareAddresses;
            c->spareAddresses = n->a;
        }
        n->after = c->spare;
        c->spare = n;
    }
    w->first = w->cursor = nullptr;
    w->end = &w->first;
}

// count_met: all threads of a block have met, or ended.
static GOCUDA_RAW void count_met(Worker *w, Block *block) {
    Counts *c = (Counts *)w->launch->order;
    CountBlock *b = (CountBlock *)block->order;
    if (!c || !b) return;
    for (gocuda_u32 i = 0; i * 32 < w->threads && !c->full; i++) count_warp(c, block, &b->warps[i], w->launch->shared);
}

// count_begin readies a block.
static GOCUDA_RAW void count_begin(Worker *w, Block *block) {
    Counts *c = (Counts *)w->launch->order;
    if (!c || c->full) return;
    gocuda_u64 slot = (gocuda_u64)(block - w->blocks);
    if (slot >= countBlocks) {
        c->full = 1;
        return;
    }
    CountBlock *b = c->blocks[slot];
    if (!b) {
        b = (CountBlock *)count_room(c, sizeof(CountBlock));
        if (!b) return;
        c->blocks[slot] = b;
        for (auto &x : b->warps) x.end = &x.first;
    } else {
        count_met(w, block); // of the block that was here before
    }
    block->order = b;
    b->now = 0;
    for (gocuda_u32 i = 0; i < w->threads; i++) {
        CountThread *t = &b->threads[i];
        t->now = t->base = 0;
        t->key[0] = 1;
        for (auto &l : t->loop) l = ~0u;
    }
}

// count_ended counts what is left when all blocks have run.
static GOCUDA_RAW void count_ended(Worker *w) {
    Counts *c = (Counts *)w->launch->order;
    for (gocuda_u64 i = 0; c && i < w->slots; i++) count_met(w, &w->blocks[i]);
}

// count_at finds what lanes of the thread's warp do under a key, and adds its lane. A lane that has been there comes again.
static GOCUDA_RAW CountNote *count_at(Counts *c, Thread *t, CountBlock *b, gocuda_u64 key, gocuda_u32 number, gocuda_u32 what) {
    gocuda_u32 warp = t->rank / 32, lane = t->rank % 32, id = (gocuda_u32)(t->block - t->worker->blocks) * 32 + warp;
    CountWarp *w = &b->warps[warp];
    if (t->plain && warp != b->now) { // the loop has left the one before
        count_warp(c, t->block, &b->warps[b->now], t->worker->launch->shared);
        b->now = warp;
    }
    if (lane != w->lane) w->lane = lane, w->cursor = w->first;
    CountNote *n = w->cursor;
    for (;; key = count_mix(key, 3)) {
        if (n && n->key == key && n->number == number && n->what == what && !(n->lanes >> lane & 1)) break;
        CountNote **bucket = &c->buckets[key % countBuckets];
        for (n = *bucket; n && !(n->key == key && n->warp == id && n->number == number && n->what == what); n = n->next) {}
        if (n && (n->lanes >> lane & 1)) continue;
        if (n) break;
        if ((n = c->spare)) c->spare = n->after;
        else if (!(n = (CountNote *)count_room(c, sizeof(CountNote)))) return nullptr;
        *n = CountNote{key, 0, number, what, id, *bucket, nullptr, nullptr};
        if (!(what & countIsStretch)) {
            if ((n->a = c->spareAddresses)) c->spareAddresses = *(gocuda_u64 **)n->a;
            else if (!(n->a = (gocuda_u64 *)count_room(c, 256))) return nullptr;
        }
        *bucket = n;
        *w->end = n;
        w->end = &n->after;
        break;
    }
    n->lanes |= 1u << lane;
    w->cursor = n->after;
    return n;
}

extern "C" __attribute__((visibility("default"))) gocuda_u32 gocuda_counted = 1;

static __attribute__((noinline)) GOCUDA_RAW void tire();

GOCUDA_CALL void count_stretch(gocuda_u32 number, gocuda_u32 depth, bool loops) {
    Thread *t = self();
    if (__builtin_expect(t->worker->poke, 0)) {
        t->worker->poke = 0;
        tire();
    }
    Counts *c = counts_of(t);
    if (!c) return;
    CountBlock *b = (CountBlock *)t->block->order;
    CountThread *x = &b->threads[t->rank];
    if (depth >= countFrame) depth = countFrame - 1;
    gocuda_u32 base = x->base < countDepth ? x->base : countDepth - countFrame, at = base + depth;
    if (loops && depth) {
        gocuda_u64 outer = x->key[at - 1];
        if (x->loop[at] == number && x->outer[at] == outer) x->turn[at]++;
        else x->loop[at] = number, x->outer[at] = outer, x->turn[at] = 0;
        x->key[at] = count_mix(count_mix(outer, number), x->turn[at]);
    }
    x->now = count_mix(x->key[at], 2 * number + 1);
    count_at(c, t, b, x->now, number, countIsStretch);
}

GOCUDA_CALL void count_access(gocuda_u64 a, gocuda_u32 site, gocuda_u32 what) {
    Thread *t = self();
    Counts *c = counts_of(t);
    if (!c) return;
    Worker *w = t->worker;
    if (what >> 16 != countBranch && a - (gocuda_u64)w->stacks < GOCUDA_STACK * w->nstacks) return; // the thread's own
    CountBlock *b = (CountBlock *)t->block->order;
    CountNote *n = count_at(c, t, b, count_mix(b->threads[t->rank].now, 2 * site), site, what);
    if (n) n->a[t->rank % 32] = a;
}

GOCUDA_CALL void count_enter() {
    Thread *t = self();
    Counts *c = counts_of(t);
    if (!c) return;
    CountThread *x = &((CountBlock *)t->block->order)->threads[t->rank];
    gocuda_u64 now = x->now;
    x->base += countFrame; // calls that are nested more deeply share the last frame
    if (x->base >= countDepth) return;
    x->key[x->base] = x->outer[x->base] = now;
    for (gocuda_u32 i = 1; i < countFrame; i++) x->loop[x->base + i] = ~0u;
}

GOCUDA_CALL void count_leave() {
    Thread *t = self();
    Counts *c = counts_of(t);
    if (!c) return;
    CountThread *x = &((CountBlock *)t->block->order)->threads[t->rank];
    if (x->base < countDepth) x->now = x->outer[x->base];
    x->base -= countFrame;
}

} // namespace gocuda
