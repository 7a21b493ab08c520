// Races between the threads of a launch, by happens-before: two accesses to the same bytes by
// two threads, one of them a write, that nothing orders. The verdict does not depend on which
// thread ran first. What orders: barriers of a block, of warps with their masks, of clusters and
// grids, shuffles and votes; releases and acquires of a scope that has both threads in it.
//
// Each thread has a clock, which goes on when others learn what it did. An access is noted with
// its thread's clock. A thread knows of another what lies before some clock: of its block since
// the last barrier by one number for all, of its warp by one more, or one for each lane, of all
// others by a list that goes from thread to thread and is never changed (Known).
//
// Each word of memory has a cell: its last plain write, and what reads and strong operations came
// since, up to a few of different warps and blocks. Memory whose parts are accessed has a cell
// for each byte. One worker runs all of a launch that is looked at.
#pragma once

namespace gocuda {

struct Known {
    gocuda_u64 n;
    struct Upto {
        gocuda_u64 key; // of a thread, or of all of a block
        gocuda_u64 clock; // what lies before it
    } of[];
};

struct Accessed {
    gocuda_u32 thread, clock, what; // clock 0: none
};

struct MoreAccesses {
    gocuda_u32 n;
    gocuda_u32 enough; // the stretch, of a block, in which there are enough reads here
    gocuda_u32 kinds;  // isWrite and isStrong, if one of them has it
    gocuda_u32 block, top; // of which all are, else ~0; the last clock
    Accessed of[7];
};

struct Cell {
    Accessed write, first;
    MoreAccesses *more;
};

struct CellPage {
    gocuda_u64 number;
    bool bytes, flags; // a cell for each byte; flags lie here
    CellPage *next;
    Cell *cells;
};

struct OrderThread {
    gocuda_u32 clock, came; // came: its clock when it came to a barrier
    gocuda_u32 line, mask;  // of the barrier, or of what lanes do together
    gocuda_u32 barriers;    // how many it has come to
    gocuda_u32 number;      // of the last
    gocuda_u64 beyond;      // those that it has come past since
    const Known *known;
    // What strong operations have seen of threads of the block, the cluster and elsewhere, and what
    // fences let these see.
    const Known *seen[3], *fenced[3];
};

struct OrderWarp {
    gocuda_u32 base;
    gocuda_u32 (*lanes)[32];
};

struct OrderBlock {
    gocuda_u32 number, base, index[3];
    gocuda_u32 stretch; // a number for what lies between two barriers
    const Known *arrived[16]; // what threads knew that came to a barrier with a number and did not wait
    OrderWarp warps[32];
    OrderThread threads[1024];
};

// Release is what a thread lets others know, and how far.
struct Release {
    gocuda_u32 scope, block, thread; // ~0 if it was several
    const Known *what;
    Release *next;
};

// Flag is memory by which threads tell each other something: what was released by its last strong
// write and those that this one saw.
struct Flag {
    gocuda_u64 address;
    gocuda_u32 epoch;
    gocuda_u32 block, scope, size; // of the last write; size 0: it is none that tells anything
    Release *list;
    const Known *arrived; // of a barrier in memory
};

// Found has the same layout in races.go of the package.
struct Found {
    gocuda_u32 kind, how; // how: all wrote the same value, all were ordered but for an acquire
    gocuda_u32 what[2], block[2][3], rank[2];
    gocuda_u64 address, count;
};
enum : gocuda_u32 { foundRace = 0, foundApart = 1, foundOutside = 2, foundEnded = 3, foundPast = 4, howSame = 1, howAlmost = 2, howShared = 4, howWide = 8 }; // and the address is an offset in shared memory; and in the bits from howWide on: of one warp, one block, two blocks
enum : gocuda_u64 { mostFound = 64, orderPages = 1 << 20, orderFlags = 1 << 20, orderBlocks = 8192, orderCache = 256 };

// Order is one launch after another's: what is of an older epoch is not there.
struct Order {
    gocuda_u64 size, used, full; // bytes, and whether there were too few
    gocuda_u64 nfound;
    gocuda_u64 stretches, epoch;
    MoreAccesses *spare;
    gocuda_u64 nflags;
    CellPage *cache[orderCache];
    OrderBlock *blocks[orderBlocks];
    Found found[mostFound];
    struct {
        CellPage *first;
        gocuda_u64 epoch;
    } pages[orderPages];
    Flag flags[orderFlags];
};

// order_room gives memory with anything in it.
static GOCUDA_RAW void *order_room(Order *o, gocuda_u64 n) {
    n = (n + 15) & ~15ul;
    if (o->used + n > o->size) {
        o->full = 1;
        o->used = sizeof(Order); // what comes is not looked at any more
    }
    void *p = (char *)o + o->used;
    o->used += n;
    return p;
}

static GOCUDA_INLINE GOCUDA_RAW Order *order_of(Thread *t) {
    Order *o = (Order *)t->worker->launch->order;
    return o && !o->full ? o : nullptr;
}
static GOCUDA_INLINE GOCUDA_RAW OrderBlock *order_block(Order *, Thread *t) { return (OrderBlock *)t->block->order; }

// Known.
static GOCUDA_INLINE GOCUDA_RAW gocuda_u64 block_key(gocuda_u32 block) { return (gocuda_u64)block << 11; }

static GOCUDA_RAW gocuda_u64 known_at(const Known *k, gocuda_u64 key) {
    gocuda_u64 lo = 0, hi = k->n;
    while (lo < hi) {
        gocuda_u64 mid = (lo + hi) / 2;
        if (k->of[mid].key < key) lo = mid + 1;
        else hi = mid;
    }
    return lo < k->n && k->of[lo].key == key ? k->of[lo].clock : 0;
}

static GOCUDA_INLINE GOCUDA_RAW bool knows(const Known *k, Accessed p) {
    if (!k) return false;
    gocuda_u64 block = block_key(p.thread >> 10);
    return p.clock < known_at(k, block) || p.clock < known_at(k, block + 1 + (p.thread & 1023));
}

// joined is what is known by either.
static __attribute__((noinline)) GOCUDA_RAW const Known *joined(Order *o, const Known *a, const Known *b) {
    if (a == b || !b || !b->n) return a;
    if (!a || !a->n) return b;
    bool alla = true, allb = true; // nothing is new in b, in a
    gocuda_u64 i = 0, k = 0, n = 0;
    for (; i < a->n || k < b->n; n++) {
        gocuda_u64 x = i < a->n ? a->of[i].key : ~0ul, y = k < b->n ? b->of[k].key : ~0ul;
        if (x < y) allb = false, i++;
        else if (y < x) alla = false, k++;
        else {
            if (a->of[i].clock < b->of[k].clock) alla = false;
            if (a->of[i].clock > b->of[k].clock) allb = false;
            i++, k++;
        }
    }
    if (alla) return a;
    if (allb) return b;
    Known *r = (Known *)order_room(o, sizeof(Known) + n * sizeof(Known::Upto));
    if (o->full) return nullptr;
    gocuda_u64 all = 0, of = ~0ul; // what is known of all of a block makes its threads needless
    for (i = k = n = 0; i < a->n || k < b->n;) {
        gocuda_u64 x = i < a->n ? a->of[i].key : ~0ul, y = k < b->n ? b->of[k].key : ~0ul;
        Known::Upto e = x <= y ? a->of[i] : b->of[k];
        if (x == y && b->of[k].clock > e.clock) e.clock = b->of[k].clock;
        if (x <= y) i++;
        if (y <= x) k++;
        if (!(e.key & 2047)) of = e.key, all = e.clock;
        else if ((e.key & ~2047ul) == of && e.clock <= all) continue;
        r->of[n++] = e;
    }
    r->n = n;
    return r;
}

// known_by is all that a thread knows, with itself.
static __attribute__((noinline)) GOCUDA_RAW const Known *known_by(Order *o, OrderBlock *b, gocuda_u32 rank) {
    Known *own = (Known *)order_room(o, sizeof(Known) + 34 * sizeof(Known::Upto));
    if (o->full) return nullptr;
    OrderWarp *warp = &b->warps[rank / 32];
    gocuda_u64 key = block_key(b->number), n = 0;
    own->of[n++] = {key, b->base};
    for (gocuda_u32 i = 0; i < 32; i++) {
        gocuda_u64 clock = warp->base;
        if (warp->lanes && warp->lanes[rank % 32][i] > clock) clock = warp->lanes[rank % 32][i];
        if (i == rank % 32) clock = b->threads[rank].clock + 1;
        if (clock > b->base) own->of[n++] = {key + 1 + rank / 32 * 32 + i, clock};
    }
    own->n = n;
    o->used -= (34 - n) * sizeof(Known::Upto); // the last that was given
    return joined(o, b->threads[rank].known, own);
}

// release_clock is what others learn from the thread at this point.
static GOCUDA_RAW const Known *release_clock(Order *o, OrderBlock *b, gocuda_u32 rank) {
    const Known *k = known_by(o, b, rank);
    b->threads[rank].clock++;
    return k;
}

// Meetings.
static GOCUDA_RAW void share(Order *o, OrderThread *to, const OrderThread *from) {
    to->known = joined(o, to->known, from->known);
    for (int i = 0; i < 3; i++) to->seen[i] = joined(o, to->seen[i], from->seen[i]), to->fenced[i] = joined(o, to->fenced[i], from->fenced[i]);
}

// alike reports whether two threads know the same of others.
static GOCUDA_INLINE GOCUDA_RAW bool alike(const OrderThread *t, const OrderThread *u) {
    return t->known == u->known && !__builtin_memcmp(t->seen, u->seen, sizeof t->seen) && !__builtin_memcmp(t->fenced, u->fenced, sizeof t->fenced);
}

static GOCUDA_RAW void learn_all(OrderThread *t, const OrderThread *all) {
    t->known = all->known;
    for (int i = 0; i < 3; i++) t->seen[i] = all->seen[i], t->fenced[i] = all->fenced[i];
}

static GOCUDA_RAW Found *found_new(Order *o, gocuda_u32 kind, gocuda_u32 first, gocuda_u32 second, gocuda_u32 how) {
    for (gocuda_u64 i = 0; i < o->nfound; i++) {
        Found *f = &o->found[i];
        gocuda_u32 x = f->what[0] & lineBits, y = f->what[1] & lineBits, a = first & lineBits, b = second & lineBits;
        if (f->kind != kind || !((x == a && y == b) || (x == b && y == a))) continue;
        f->count++;
        if ((f->how & howAlmost) && !(how & howAlmost)) { // it is worse than it looked
            f->how = how;
            return f;
        }
        if ((f->how & howAlmost) != (how & howAlmost)) return nullptr;
        gocuda_u32 same = f->how & how & howSame;
        bool wider = how / howWide > f->how / howWide;
        f->how = ((wider ? how : f->how) & ~howSame) | same;
        return wider ? f : nullptr;
    }
    if (o->nfound == mostFound) return nullptr;
    Found *f = &o->found[o->nfound++];
    f->kind = kind, f->how = how, f->count = 1;
    return f;
}

static GOCUDA_RAW void set_index(gocuda_u32 *to, Launch *l, gocuda_u64 number) {
    gocuda_u64 at = number, within = 0;
    if (l->cluster[0] > 1) at = number / l->cluster[0], within = number % l->cluster[0];
    for (int i = 0; i < 3; i++) {
        gocuda_u32 size = l->cluster[0] > 1 ? l->cluster[1 + i] : 1, clusters = l->grid[i] / size;
        to[i] = (gocuda_u32)(at % clusters * size + within % size);
        at /= clusters, within /= size;
    }
}

static GOCUDA_RAW void found_lines(Order *o, OrderBlock *b, gocuda_u32 kind, gocuda_u32 one, gocuda_u32 other, gocuda_u64 mask) {
    Found *f = found_new(o, kind, b->threads[one].line, b->threads[other].line, 0);
    if (!f) return;
    f->what[0] = b->threads[one].line, f->what[1] = b->threads[other].line;
    f->rank[0] = one, f->rank[1] = other, f->address = mask;
    for (int i = 0; i < 3; i++) f->block[0][i] = f->block[1][i] = b->index[i];
}

// order_met: all threads of a block have met at a barrier, those that have ended but for.
static GOCUDA_RAW void order_met(Worker *w, Block *block) {
    Order *o = (Order *)w->launch->order;
    if (!o || o->full) return;
    OrderBlock *b = (OrderBlock *)block->order;
    gocuda_u32 n = w->threads, top = 0, most = 0;
    OrderThread all = b->threads[0];
    for (gocuda_u32 i = 0; i < n; i++) {
        OrderThread *t = &b->threads[i];
        if (t->clock > top) top = t->clock;
        if (t->barriers > b->threads[most].barriers) most = i;
        if (!alike(t, &all)) share(o, &all, t);
    }
    for (gocuda_u32 i = 0; i < n; i++) { // others have ended
        OrderThread *t = &b->threads[i];
        if (t->barriers == b->threads[most].barriers && t->line != b->threads[most].line) {
            found_lines(o, b, foundApart, most, i, 0);
            break;
        }
        if (t->barriers < b->threads[most].barriers && b->threads[most].number < 64 && (t->beyond >> b->threads[most].number & 1)) {
            found_lines(o, b, foundPast, most, i, 0);
            break;
        }
    }
    top++;
    for (gocuda_u32 i = 0; i < n; i++) b->threads[i].clock = top, learn_all(&b->threads[i], &all);
    b->base = top;
    b->stretch = (gocuda_u32)++o->stretches;
}

// order_warp: lanes of a warp have met.
static GOCUDA_RAW void order_warp(Worker *w, Block *block, gocuda_u32 number, gocuda_u32 lanes) {
    Order *o = (Order *)w->launch->order;
    if (!o || o->full || !lanes) return;
    OrderBlock *b = (OrderBlock *)block->order;
    OrderWarp *warp = &b->warps[number];
    OrderThread *first = &b->threads[number * 32];
    gocuda_u32 there = w->threads - number * 32 >= 32 ? ~0u : (1u << (w->threads - number * 32)) - 1;
    gocuda_u32 one = (gocuda_u32)__builtin_ctz(lanes), top = 0;
    OrderThread all = first[one];
    for (gocuda_u32 left = lanes; left; left &= left - 1) {
        OrderThread *t = &first[__builtin_ctz(left)];
        if (t->clock > top) top = t->clock;
        if (!alike(t, &all)) share(o, &all, t);
    }
    gocuda_u32 missing = first[one].mask & there & ~lanes;
    if (missing) found_lines(o, b, foundEnded, number * 32 + one, number * 32 + (gocuda_u32)__builtin_ctz(missing), first[one].mask);
    top++;
    for (gocuda_u32 left = lanes; left; left &= left - 1) {
        OrderThread *t = &first[__builtin_ctz(left)];
        t->clock = top;
        learn_all(t, &all);
    }
    if (lanes == there) {
        warp->base = top;
        return;
    }
    if (!warp->lanes) {
        warp->lanes = (gocuda_u32(*)[32])order_room(o, sizeof(gocuda_u32[32][32]));
        if (o->full) return;
        __builtin_memset(warp->lanes, 0, sizeof(gocuda_u32[32][32]));
    }
    gocuda_u32 most[32] = {};
    for (gocuda_u32 left = lanes; left; left &= left - 1)
        for (int k = 0, i = __builtin_ctz(left); k < 32; k++)
            if (warp->lanes[i][k] > most[k]) most[k] = warp->lanes[i][k];
    for (gocuda_u32 left = lanes; left; left &= left - 1) most[__builtin_ctz(left)] = top;
    for (gocuda_u32 left = lanes; left; left &= left - 1)
        for (int k = 0, i = __builtin_ctz(left); k < 32; k++) warp->lanes[i][k] = most[k];
}

// order_came: a thread has come to a barrier that not all wait at.
static GOCUDA_RAW void order_came(Thread *t, gocuda_u32 number, gocuda_u32 waits) {
    Order *o = order_of(t);
    if (!o) return;
    OrderBlock *b = order_block(o, t);
    OrderThread *me = &b->threads[t->rank];
    if (waits) me->came = me->clock++;
    else b->arrived[number] = joined(o, b->arrived[number], release_clock(o, b, t->rank));
}

// order_group: threads have met at a barrier with a number; those in the queue have waited.
static GOCUDA_RAW void order_group(Worker *w, Block *block, gocuda_u32 number, const gocuda_u32 *here, gocuda_u32 whole, Thread *queue) {
    Order *o = (Order *)w->launch->order;
    if (!o || o->full) return;
    OrderBlock *b = (OrderBlock *)block->order;
    gocuda_u32 came = 0, waited = 0;
    for (gocuda_u32 i = 0; i < 32; i++)
        if (whole >> i & 1) came += (gocuda_u32)__builtin_popcount(here[i]);
    for (Thread *t = queue; t; t = t->next) waited += whole >> (t->rank / 32) & 1;
    OrderThread all = {};
    all.known = b->arrived[number];
    b->arrived[number] = nullptr;
    if (came == w->threads && waited == came) return order_met(w, block);
    gocuda_u32 clocks[1024] = {}; // what the waiting threads know of each of the block's
    for (Thread *t = queue; t; t = t->next) {
        gocuda_u32 r = t->rank, first = r / 32 * 32;
        if (!(whole >> (r / 32) & 1)) continue;
        OrderWarp *warp = &b->warps[r / 32];
        for (gocuda_u32 i = 0; i < 32; i++) {
            gocuda_u32 clock = warp->lanes && warp->lanes[r % 32][i] > warp->base ? warp->lanes[r % 32][i] : warp->base;
            if (clock > clocks[first + i]) clocks[first + i] = clock;
        }
        if (b->threads[r].came + 1 > clocks[r]) clocks[r] = b->threads[r].came + 1;
        share(o, &all, &b->threads[r]);
    }
    Known *k = (Known *)order_room(o, sizeof(Known) + 1025 * sizeof(Known::Upto));
    if (o->full) return;
    gocuda_u64 key = block_key(b->number), n = 0;
    k->of[n++] = {key, b->base};
    for (gocuda_u32 r = 0; r < w->threads; r++)
        if (clocks[r] > b->base) k->of[n++] = {key + 1 + r, clocks[r]};
    k->n = n;
    o->used -= (1025 - n) * sizeof(Known::Upto); // the last that was given
    all.known = joined(o, all.known, k);
    b->stretch = (gocuda_u32)++o->stretches;
    for (Thread *t = queue; t; t = t->next)
        if (whole >> (t->rank / 32) & 1) learn_all(&b->threads[t->rank], &all);
}

// order_all: all threads of n blocks have met.
template <class F> static GOCUDA_RAW void order_all(Worker *w, gocuda_u64 n, F block) {
    Order *o = (Order *)w->launch->order;
    if (!o || o->full) return;
    OrderThread all = {};
    for (gocuda_u64 i = 0; i < n; i++) {
        OrderBlock *b = ((OrderBlock *)block(i)->order);
        gocuda_u32 top = 0;
        for (gocuda_u32 r = 0; r < w->threads; r++) {
            if (b->threads[r].clock > top) top = b->threads[r].clock;
            share(o, &all, &b->threads[r]);
        }
        for (gocuda_u32 r = 0; r < w->threads; r++) b->threads[r].clock = top + 1;
        b->base = top + 1;
        b->stretch = (gocuda_u32)++o->stretches;
        Known *k = (Known *)order_room(o, sizeof(Known) + sizeof(Known::Upto));
        if (o->full) return;
        k->n = 1, k->of[0] = {block_key(b->number), b->base};
        all.known = joined(o, all.known, k);
    }
    for (gocuda_u64 i = 0; i < n; i++)
        for (gocuda_u32 r = 0; r < w->threads; r++) learn_all(&((OrderBlock *)block(i)->order)->threads[r], &all);
}

// Cells.
static __attribute__((noinline)) GOCUDA_RAW CellPage *page_slow(Order *o, gocuda_u64 number) {
    auto at = &o->pages[(number ^ number >> 20) % orderPages];
    if (at->epoch != o->epoch) at->epoch = o->epoch, at->first = nullptr;
    for (CellPage *p = at->first; p; p = p->next)
        if (p->number == number) return o->cache[number % orderCache] = p;
    CellPage *p = (CellPage *)order_room(o, sizeof(CellPage) + 1024 * sizeof(Cell));
    if (o->full) return nullptr;
    __builtin_memset(p, 0, sizeof(CellPage) + 1024 * sizeof(Cell));
    p->number = number, p->next = at->first, p->cells = (Cell *)(p + 1);
    return at->first = o->cache[number % orderCache] = p;
}

static GOCUDA_INLINE GOCUDA_RAW CellPage *page_of(Order *o, gocuda_u64 number) {
    CellPage *p = o->cache[number % orderCache];
    return p && p->number == number ? p : page_slow(o, number);
}

static GOCUDA_RAW MoreAccesses *more_new(Order *o) {
    MoreAccesses *m = o->spare;
    if (m) {
        o->spare = *(MoreAccesses **)m->of;
    } else if (m = (MoreAccesses *)order_room(o, sizeof(MoreAccesses)); o->full) {
        return nullptr;
    }
    m->n = m->enough = 0;
    return m;
}

// more_add notes one more, if there is room.
static GOCUDA_INLINE GOCUDA_RAW void more_add(MoreAccesses *m, Accessed p) {
    if (!m->n) m->kinds = m->top = 0, m->block = p.thread >> 10;
    m->kinds |= p.what & (isWrite | isStrong);
    if (m->block != p.thread >> 10) m->block = ~0u;
    if (p.clock > m->top) m->top = p.clock;
    m->of[m->n++] = p;
}

static __attribute__((noinline)) GOCUDA_RAW void page_in_bytes(Order *o, CellPage *p) {
    Cell *cells = (Cell *)order_room(o, 4096 * sizeof(Cell));
    if (o->full) return;
    for (gocuda_u64 i = 0; i < 4096; i++) {
        cells[i] = p->cells[i / 4];
        if (i % 4 && cells[i].more) {
            MoreAccesses *m = more_new(o);
            if (!m) return;
            *m = *cells[i].more;
            cells[i].more = m;
        }
    }
    p->cells = cells;
    p->bytes = true;
}

// order_forget: memory begins again.
static GOCUDA_RAW void order_forget(Order *o, gocuda_u64 a, gocuda_u64 n) {
    for (gocuda_u64 end = a + n; a < end && !o->full;) {
        gocuda_u64 stop = (a & ~4095ul) + 4096;
        if (stop > end) stop = end;
        CellPage *p = page_of(o, a >> 12);
        if (!p) return;
        gocuda_u64 unit = p->bytes ? 1 : 4, first = (a & 4095) / unit, last = ((stop - 1) & 4095) / unit;
        for (gocuda_u64 i = first; i <= last; i++) {
            Cell *c = &p->cells[i];
            c->write.clock = c->first.clock = 0;
            if (c->more) {
                *(MoreAccesses **)c->more->of = o->spare;
                o->spare = c->more;
                c->more = nullptr;
            }
        }
        a = stop;
    }
}

// order_begin readies what is known of a block.
static GOCUDA_RAW void order_begin(Worker *w, Block *block, gocuda_u64 number) {
    Launch *l = w->launch;
    Order *o = (Order *)l->order;
    if (!o || o->full) return;
    gocuda_u64 slot = (gocuda_u64)(block - w->blocks);
    if (slot >= orderBlocks) {
        o->full = 1;
        return;
    }
    OrderBlock *b = o->blocks[slot];
    if (!b) {
        b = (OrderBlock *)order_room(o, sizeof(OrderBlock));
        if (o->full) return;
        o->blocks[slot] = b;
        __builtin_memset(b->warps, 0, sizeof b->warps);
    }
    block->order = b;
    b->number = (gocuda_u32)number, b->base = 1;
    b->stretch = (gocuda_u32)++o->stretches;
    for (int i = 0; i < 16; i++) b->arrived[i] = nullptr;
    set_index(b->index, l, number);
    for (gocuda_u32 i = 0; i * 32 < w->threads; i++) {
        b->warps[i].base = 1;
        for (int k = 0; k < 32 * 32 && b->warps[i].lanes; k++) b->warps[i].lanes[k / 32][k % 32] = 0;
    }
    for (gocuda_u32 i = 0; i < w->threads; i++) {
        b->threads[i] = OrderThread{};
        b->threads[i].clock = 1;
    }
    order_forget(o, (gocuda_u64)block->shared, l->shared);
}

// before reports whether an access is ordered before what a thread does now.
static GOCUDA_INLINE GOCUDA_RAW bool before(OrderBlock *b, OrderThread *me, gocuda_u32 rank, Accessed p) {
    if (p.thread >> 10 == b->number) {
        gocuda_u32 by = p.thread & 1023;
        if (p.clock < b->base || by == rank) return true;
        if ((by ^ rank) < 32) {
            OrderWarp *warp = &b->warps[rank / 32];
            if (p.clock < warp->base || (warp->lanes && p.clock < warp->lanes[rank % 32][by % 32])) return true;
        }
    }
    return knows(me->known, p);
}

// apart is the scope that two blocks need: 0 is that of a block, 1 of a cluster, 2 of a device.
static GOCUDA_INLINE GOCUDA_RAW gocuda_u32 apart(Launch *l, gocuda_u32 one, gocuda_u32 other) {
    if (one == other) return 0;
    return l->cluster[0] > 1 && one / l->cluster[0] == other / l->cluster[0] ? 1 : 2;
}

// in_scope reports whether each of two strong accesses is in the other's scope.
static GOCUDA_INLINE GOCUDA_RAW bool in_scope(Launch *l, Accessed p, Accessed q) {
    gocuda_u32 x = p.what >> scopeAt & 3, y = q.what >> scopeAt & 3;
    return (x < y ? x : y) >= apart(l, p.thread >> 10, q.thread >> 10);
}

// scope_of is a strong access's; a system is one device here.
static GOCUDA_INLINE GOCUDA_RAW gocuda_u32 scope_of(Accessed p) { return (p.what >> scopeAt & 3) < 2 ? p.what >> scopeAt & 3 : 2; }

static GOCUDA_RAW bool saw(OrderThread *me, Accessed p) { return knows(me->seen[0], p) || knows(me->seen[1], p) || knows(me->seen[2], p); }

// together reports whether two strong accesses are in each other's scope, so that memory itself orders them.
static GOCUDA_RAW bool together(Launch *l, OrderBlock *b, OrderThread *me, gocuda_u32 rank, Accessed p, Accessed q, bool same) {
    if (!in_scope(l, p, q)) return false;
    if (!(p.what & q.what & isVolatile)) return true;
    // Between volatile accesses of one warp nothing but a barrier makes lanes wait, and two volatile writes may lose one.
    bool block = p.thread >> 10 == q.thread >> 10;
    if (saw(me, p)) return true;
    Accessed last = p;
    last.clock--; // if it is known up to the fence before it, it was seen
    if (p.what & q.what & isWrite) return same || (last.clock && before(b, me, rank, last));
    return !(block && ((p.thread ^ q.thread) & 1023) < 32) || ((p.what | q.what) & isPolled);
}

static __attribute__((noinline)) GOCUDA_RAW void found_race(Order *o, Launch *l, OrderThread *me, Accessed p, Accessed q, gocuda_u64 a, bool same) {
    gocuda_u32 how = same ? howSame : 0;
    bool guess = ((p.what & (isPolled | isStrong)) == isPolled && (q.what & isAtomic)) || ((q.what & (isPolled | isStrong)) == isPolled && (p.what & isAtomic));
    if (guess || saw(me, p)) how |= howAlmost;
    how |= howWide * (p.thread >> 10 != q.thread >> 10 ? 2 : p.thread >> 5 != q.thread >> 5);
    Found *f = found_new(o, foundRace, p.what, q.what, how);
    if (!f) return;
    f->what[0] = p.what, f->what[1] = q.what;
    f->rank[0] = p.thread & 1023, f->rank[1] = q.thread & 1023;
    set_index(f->block[0], l, p.thread >> 10);
    set_index(f->block[1], l, q.thread >> 10);
    gocuda_u64 within = a - (gocuda_u64)self()->shared;
    f->address = within < l->shared ? within : a;
    f->how = (f->how & ~howShared) | (within < l->shared ? howShared : 0);
}

// differs is whether a value that is written is not what is there; what is said of it where it is not known.
static GOCUDA_RAW bool differs(gocuda_u64 a, gocuda_u32 what, gocuda_u64 value) {
    if (!(what & hasValue)) return true;
    switch (what >> sizeAt & 7) {
    case 0: return *(gocuda_u8 *)a != (gocuda_u8)value;
    case 1: return *(unsigned short *)a != (unsigned short)value;
    case 2: return *(gocuda_u32 *)a != (gocuda_u32)value;
    case 3: return *(gocuda_u64 *)a != value;
    }
    return true;
}

// covers reports whether all that would race with p would do so with q, which comes after it. Strong
// ones that q has in its scope, and p has not, would not: those of its block, if p is another's.
static GOCUDA_INLINE GOCUDA_RAW bool covers(Accessed q, Accessed p) {
    constexpr gocuda_u32 kind = isWrite | isStrong;
    gocuda_u32 x = q.what & kind, y = p.what & kind;
    if (x == 0) return !(y & isWrite);
    if (x == isWrite) return !(y & isStrong);
    if (x != y && (x != kind || y != isStrong)) return false;
    return scope_of(q) <= scope_of(p) && q.thread >> 10 == p.thread >> 10;
}

static __attribute__((noinline)) GOCUDA_RAW void cell_access(Order *o, Launch *l, OrderBlock *b, OrderThread *me, gocuda_u32 rank, Cell *c, Accessed q, gocuda_u64 a, gocuda_u64 at, gocuda_u64 value) {
    MoreAccesses *m = c->more;
    gocuda_u32 n = c->first.clock ? 1 + (m ? m->n : 0) : 0; // in the order in which they were done
    auto of = [&](gocuda_u32 i) __attribute__((always_inline)) -> Accessed & { return i ? m->of[i - 1] : c->first; };
    // seen reports whether a strong write was seen, directly or by atomic operations on the way,
    // by one that comes before this access: it comes before it, too. What comes later may have this
    // one for it.
    auto seen = [&](gocuda_u32 i, bool later) {
        Accessed last = of(i);
        for (i++; i < n + later; i++) {
            Accessed z = i < n ? of(i) : q;
            if (!(z.what & isStrong)) continue;
            bool linked = in_scope(l, last, z) && !((last.what ^ z.what) >> sizeAt & 7), reads = (z.what & isAtomic) || !(z.what & isWrite);
            if (linked && reads && (z.thread == q.thread || before(b, me, rank, z))) return true;
            if (!(z.what & isWrite)) continue;
            if (!linked || !reads) return false;
            last = z;
        }
        return false;
    };
    int known = -1; // whether what is written is another value
    auto check = [&](Accessed p, gocuda_u32 i) __attribute__((always_inline)) {
        if (!p.clock || !((p.what | q.what) & isWrite) || before(b, me, rank, p)) return;
        bool both = p.what & q.what & isWrite;
        if (both && known < 0) known = differs(a, q.what, value);
        if ((p.what & q.what & isStrong) && together(l, b, me, rank, p, q, both && !known)) return;
        if ((p.what & (isWrite | isStrong)) == (isWrite | isStrong) && seen(i, false)) return;
        found_race(o, l, me, p, q, at, both && !known && !((p.what | q.what) & isAtomic));
    };
    check(c->write, 0);
    for (gocuda_u32 i = 0; i < n; i++) check(of(i), i);
    if ((q.what & (isWrite | isStrong)) == isWrite) {
        c->write = q;
        c->first.clock = 0;
        if (m) m->n = m->enough = 0;
        return;
    }
    // What this access covers goes, but for what tells who has seen a strong write that stays: the
    // first of each thread, and writes that are seen where that one is not, or end what is seen.
    gocuda_u32 going = 0;
    Accessed write = {};
    for (gocuda_u32 i = 0; i < n; i++) {
        constexpr gocuda_u32 kind = isWrite | isStrong;
        Accessed p = of(i);
        bool goes = covers(q, p) && (before(b, me, rank, p) || ((p.what & kind) == kind && seen(i, true)));
        if (goes && write.clock && (p.what & isStrong)) {
            constexpr gocuda_u32 width = 7u << sizeAt;
            if (p.what & isWrite) goes = (p.what & isAtomic) && p.thread >> 10 == write.thread >> 10 && (write.what & width) == (p.what & width) && scope_of(write) >= scope_of(p);
            bool first = true;
            for (gocuda_u32 k = i; first && k > 0; k--) {
                Accessed z = of(k - 1);
                if (going >> (k - 1) & 1 || !(z.what & isStrong)) continue;
                if (z.thread == p.thread && (z.what & (isWrite | isAtomic)) != isWrite) first = false;
                else if (z.what & isWrite) break;
            }
            goes = goes && !first;
        }
        if (goes) going |= 1u << i;
        else if ((p.what & kind) == kind) write = p;
    }
    gocuda_u32 left = 0;
    for (gocuda_u32 i = 0; i < n; i++)
        if (!(going >> i & 1)) of(left++) = of(i);
    n = left;
    if (n && !m && !(m = c->more = more_new(o))) return;
    if (n == 8) { // the oldest goes: those that come after may tell what was seen. Of plain reads two of a warp are enough, and four of a block.
        gocuda_u32 i = 0;
        if (!(q.what & (isWrite | isStrong))) {
            gocuda_u32 warp = 0, block = 0, in_warp = 0, in_block = 0;
            for (gocuda_u32 k = 8; k-- > 0;) {
                if (of(k).what & (isWrite | isStrong)) continue;
                i = k;
                if (of(k).thread >> 5 == q.thread >> 5) warp++, in_warp = k;
                if (of(k).thread >> 10 == q.thread >> 10) block++, in_block = k;
            }
            i = warp > 1 ? in_warp : block > 2 ? in_block : i;
            if (block > 2) m->enough = b->stretch;
        }
        for (n--; i < n; i++) of(i) = of(i + 1);
    }
    of(n) = q;
    if (!m) return;
    m->n = 0;
    for (gocuda_u32 i = 1; i <= n; i++) more_add(m, of(i));
}

// Flags.
static GOCUDA_RAW Flag *flag_at(Order *o, gocuda_u64 a, bool make) {
    if (!o->nflags && !make) return nullptr;
    gocuda_u64 i = (a >> 2) * 0x9e3779b97f4a7c15ul >> 44;
    for (; o->flags[i].epoch == (gocuda_u32)o->epoch; i = (i + 1) % orderFlags)
        if (o->flags[i].address == a) return &o->flags[i];
    if (!make) return nullptr;
    if (++o->nflags > orderFlags / 2) {
        o->full = 1;
        return nullptr;
    }
    CellPage *p = page_of(o, a >> 12);
    if (!p) return nullptr;
    p->flags = true;
    o->flags[i] = Flag{a, (gocuda_u32)o->epoch};
    return &o->flags[i];
}

// flag_of is the flag at an address. In shared memory a block, or a cluster, finds none of those before it.
static GOCUDA_RAW Flag *flag_of(Order *o, Thread *t, OrderBlock *b, gocuda_u64 a, bool make) {
    Flag *f = flag_at(o, a, make);
    Worker *w = t->worker;
    if (f && apart(w->launch, f->block, b->number) == 2 && a - (gocuda_u64)w->shared < ((w->launch->shared + 15ul) & ~15ul) * w->slots)
        f->arrived = nullptr, f->size = 0, f->block = b->number;
    return f;
}

// flags_end: what is written is not what flags there told. A strong write of a whole flag tells
// by itself.
static __attribute__((noinline)) GOCUDA_RAW void flags_end(Order *o, gocuda_u64 a, gocuda_u64 size, gocuda_u32 what) {
    for (gocuda_u64 at = a & ~7ul; at < a + size; at++) {
        Flag *f = flag_at(o, at, false);
        if (f && at + f->size > a && !((what & isStrong) && at == a && f->size == size)) f->size = 0;
    }
}

static GOCUDA_RAW void release_by(Order *o, Flag *f, gocuda_u32 scope, gocuda_u32 thread, const Known *what) {
    if (!what || o->full) return;
    gocuda_u32 block = thread >> 10;
    Release *r = f->list, *room = nullptr, *other = nullptr;
    gocuda_u32 blocks = 0;
    for (; r; r = r->next) {
        if (!r->what) room = r;
        else if (r->scope == scope && r->block == block) break;
        else if (r->scope == 2 && blocks++ < 4) other = r;
    }
    if (!r && scope == 2 && blocks > 3) r = other; // of many blocks all is one
    if (r) {
        r->what = joined(o, r->what, what);
        if (r->thread != thread) r->thread = ~0u;
        if (r->block != block) r->block = ~0u;
        return;
    }
    if (!room) {
        room = (Release *)order_room(o, sizeof(Release));
        if (o->full) return;
        room->next = f->list;
        f->list = room;
    }
    room->scope = scope, room->block = block, room->thread = thread, room->what = what;
}

// linked reports whether a strong operation at a flag sees, or follows, its last write.
static GOCUDA_INLINE GOCUDA_RAW bool linked(Launch *l, OrderBlock *b, Flag *f, gocuda_u32 what) {
    if (!f || f->size != 1u << (what >> sizeAt & 7)) return false;
    gocuda_u32 far = apart(l, f->block, b->number);
    return (what >> scopeAt & 3) >= far && f->scope >= far;
}

// order_sees is about what a strong operation learns before it is done.
static __attribute__((noinline)) GOCUDA_RAW void order_sees(Order *o, Thread *t, OrderBlock *b, gocuda_u32 rank, gocuda_u64 a, gocuda_u32 what) {
    OrderThread *me = &b->threads[rank];
    Launch *l = t->worker->launch;
    Flag *f = flag_of(o, t, b, a, false);
    if (!linked(l, b, f, what)) return;
    for (Release *r = f->list; r; r = r->next) {
        gocuda_u32 far = apart(l, r->block, b->number);
        if (!r->what || r->scope < far) continue;
        if ((what & isAcquire) && (what >> scopeAt & 3) >= far) me->known = joined(o, me->known, r->what);
        else me->seen[far] = joined(o, me->seen[far], r->what);
    }
}

// order_tells is about what a strong write lets others know.
static __attribute__((noinline)) GOCUDA_RAW void order_tells(Order *o, Thread *t, OrderBlock *b, gocuda_u32 rank, gocuda_u64 a, gocuda_u32 what) {
    OrderThread *me = &b->threads[rank];
    Launch *l = t->worker->launch;
    gocuda_u32 scope = what >> scopeAt & 3, size = 1u << (what >> sizeAt & 7), by = b->number << 10 | rank;
    if (scope > 2) scope = 2;
    const Known *own = what & isRelease ? release_clock(o, b, rank) : nullptr;
    Flag *f = o->full ? nullptr : flag_of(o, t, b, a, own || me->fenced[0]);
    if (!f || o->full) return;
    if (!(what & isAtomic) || !linked(l, b, f, what)) // what came before is not seen any more, but for what the thread itself released here
        for (Release *r = f->list; r; r = r->next)
            if (f->size != size || r->thread != by) r->what = nullptr;
    f->block = b->number, f->scope = scope, f->size = size;
    release_by(o, f, scope, by, own);
    for (gocuda_u32 s = 0; s < 3; s++)
        if (s == 2 || me->fenced[s] != me->fenced[s + 1]) release_by(o, f, s, by, me->fenced[s]);
}

static GOCUDA_INLINE GOCUDA_RAW void cells_access(Order *o, Thread *t, OrderBlock *b, gocuda_u32 rank, Accessed q, gocuda_u64 a, gocuda_u64 size, gocuda_u64 value) {
    OrderThread *me = &b->threads[rank];
    CellPage *p = page_of(o, a >> 12);
    if (!p) return;
    if (!p->bytes && (size < 4 || (a & 3))) {
        page_in_bytes(o, p);
        if (o->full) return;
    }
    gocuda_u64 first = a & 4095, last = first + size;
    if (last > 4096) last = 4096; // it fails anyway
    if (!p->bytes) first >>= 2, last >>= 2;
    for (; first < last; first++) {
        Cell *c = &p->cells[first];
        // The same thread has done the same before.
        if (q.what & isWrite ? c->write.thread == q.thread && c->write.clock == q.clock && !((c->write.what ^ q.what) & ~lineBits) && !c->first.clock
                             : c->first.thread == q.thread && c->first.clock == q.clock && !((c->first.what ^ q.what) & ~(lineBits | isPolled)) && (!(q.what & isStrong) || !c->more || !c->more->n))
            continue;
        // All that was done here is the thread's own, or lies before a barrier of its block.
        auto old = [&](Accessed p) __attribute__((always_inline)) { return !p.clock || p.thread == q.thread || (p.thread >> 10 == b->number && p.clock < b->base); };
        MoreAccesses *m = c->more;
        bool plain = !(q.what & (isWrite | isStrong)), after = old(c->write);
        if (after && old(c->first) && (!m || !m->n || (m->block == b->number && m->top < b->base))) {
            if ((q.what & (isWrite | isStrong)) == isWrite) {
                c->write = q, c->first.clock = 0;
                if (m) m->n = m->enough = 0;
                continue;
            }
            if ((!c->first.clock || covers(q, c->first)) && (!m || !m->n || (plain && !m->kinds))) {
                c->first = q;
                if (m) m->n = 0;
                continue;
            }
        }
        // Enough of the block have read it since the barrier, and the last write came before.
        if (plain && m && m->enough == b->stretch && c->write.clock < b->base && (c->write.thread >> 10 == b->number || !c->write.clock))
            continue;
        // One of the first to read it since.
        if (plain && after && c->first.clock && !(c->first.what & (isWrite | isStrong)) && (m || (m = c->more = more_new(o))) && (!m->n || !m->kinds)) {
            gocuda_u32 i = 0;
            while (i < m->n && m->of[i].thread != q.thread) i++;
            if (i < m->n) {
                m->of[i] = q;
                if (q.clock > m->top) m->top = q.clock;
                continue;
            }
            if (i < 7) {
                more_add(m, q);
                continue;
            }
        }
        if (o->full) return;
        cell_access(o, t->worker->launch, b, me, rank, c, q, a, a, value);
        if (o->full) return;
    }
    if (__builtin_expect(p->flags, 0) && (q.what & isWrite)) flags_end(o, a, size, q.what);
}

extern "C" __attribute__((visibility("default"))) gocuda_u32 gocuda_observed = 1;

static __attribute__((noinline)) GOCUDA_RAW void tire();

GOCUDA_CALL void order_turn() {
    Worker *w = self()->worker;
    if (__builtin_expect(!w->poke, 1)) return;
    w->poke = 0;
    tire();
}

// after reports whether an access is told after it was done. Nothing is to come in between.
static GOCUDA_INLINE GOCUDA_RAW bool after(gocuda_u32 what) { return (what & isStrong) && ((what & isAtomic) || !(what & isWrite)); }

GOCUDA_CALL void order_access(gocuda_u64 a, gocuda_u32 what, gocuda_u64 value) {
    Thread *t = self();
    if (!after(what)) order_turn();
    Order *o = order_of(t);
    if (!o) return;
    OrderBlock *b = order_block(o, t);
    gocuda_u32 rank = t->rank;
    Worker *w = t->worker;
    if (after(what)) order_sees(o, t, b, rank, a, what);
    if (__builtin_expect(a - (gocuda_u64)w->stacks >= GOCUDA_STACK * w->nstacks, 1))
        cells_access(o, t, b, rank, Accessed{b->number << 10 | rank, b->threads[rank].clock, what}, a, 1ul << (what >> sizeAt & 7), value);
    if ((what & (isStrong | isWrite)) == (isStrong | isWrite) && !o->full) order_tells(o, t, b, rank, a, what);
}

GOCUDA_CALL void order_range(gocuda_u64 a, gocuda_u64 n, gocuda_u32 what) {
    for (; n >= 4 && !(a & 3); a += 4, n -= 4) order_access(a, what | 2u << sizeAt, 0);
    for (; n; a++, n--) order_access(a, what, 0);
}

GOCUDA_CALL void order_fence(gocuda_u32 scope) {
    Thread *t = self();
    Order *o = order_of(t);
    if (!o) return;
    OrderBlock *b = order_block(o, t);
    OrderThread *me = &b->threads[t->rank];
    if (scope > 2) scope = 2;
    for (gocuda_u32 i = 0; i <= scope; i++) me->known = joined(o, me->known, me->seen[i]);
    const Known *k = o->full ? nullptr : release_clock(o, b, t->rank);
    for (gocuda_u32 i = 0; i <= scope; i++) me->fenced[i] = k;
}

GOCUDA_CALL void order_at(gocuda_u32 line, gocuda_u32 number) {
    Thread *t = self();
    Order *o = order_of(t);
    if (!o) return;
    OrderThread *me = &order_block(o, t)->threads[t->rank];
    me->line = line;
    me->number = number;
    me->beyond = 0;
    me->barriers++;
}

GOCUDA_CALL void order_beyond(gocuda_u32 line, gocuda_u64 numbers) {
    Thread *t = self();
    Order *o = order_of(t);
    if (!o) return;
    OrderThread *me = &order_block(o, t)->threads[t->rank];
    if (!(numbers & ~me->beyond)) return;
    me->line = line;
    me->beyond |= numbers;
}

GOCUDA_CALL void order_lanes(gocuda_u32 line, gocuda_u32 mask) {
    Thread *t = self();
    Order *o = order_of(t);
    if (!o) return;
    OrderBlock *b = order_block(o, t);
    b->threads[t->rank].line = line;
    b->threads[t->rank].mask = mask;
    if (!(mask >> (t->rank % 32) & 1)) found_lines(o, b, foundOutside, t->rank, t->rank, mask);
}

// What threads that have arrived let others see is kept with a barrier in memory, and after it
// that of the phase before. It is the same whatever the scope: a barrier is reached by those alone.
GOCUDA_CALL void order_arrive(gocuda_u64 a) {
    Thread *t = self();
    Order *o = order_of(t);
    Flag *f = o ? flag_of(o, t, order_block(o, t), a, true) : nullptr;
    if (f) f->arrived = joined(o, f->arrived, release_clock(o, order_block(o, t), t->rank));
}

GOCUDA_CALL void order_phase(gocuda_u64 a) {
    Thread *t = self();
    Order *o = order_of(t);
    Flag *f = o ? flag_of(o, t, order_block(o, t), a, true) : nullptr, *before = f ? flag_of(o, t, order_block(o, t), a + 1, true) : nullptr;
    if (before) before->arrived = f->arrived, f->arrived = nullptr;
}

GOCUDA_CALL void order_passed(gocuda_u64 a) {
    Thread *t = self();
    Order *o = order_of(t);
    Flag *f = o ? flag_of(o, t, order_block(o, t), a + 1, false) : nullptr;
    OrderThread *me = f ? &order_block(o, t)->threads[t->rank] : nullptr;
    if (me) me->known = joined(o, me->known, f->arrived);
}

} // namespace gocuda
