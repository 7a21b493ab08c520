// Where the lanes of a warp meet.
#pragma once

namespace gocuda {

// act_together does what lanes came for, if all did.
static GOCUDA_RAW void act_together(Warp *warp, gocuda_u32 lanes) {
    Meeting *const *all = (Meeting *const *)warp->in;
    for (int i = 0; i < 32; i++)
        if (!(lanes >> i & 1) || warp->arg[i] != metAt || all[i]->act != all[0]->act || all[i]->number != all[0]->number) return;
    all[0]->act(all);
    for (int i = 0; i < 32; i++) all[i]->acted = 1;
}

static GOCUDA_RAW void answer(Warp *warp, gocuda_u32 lanes, gocuda_u32 op) {
    if (op == opTogether) return act_together(warp, lanes);
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
        GOCUDA_ORDER(order_warp(self()->worker, b, (gocuda_u32)(warp - b->warps), lanes));
        answer(warp, lanes, op);
        for (gocuda_u32 i = 0; i < 32; i++)
            if ((lanes >> i & 1) && warp->waiting[i]) {
                append(b->ready, warp->waiting[i]);
                warp->waiting[i] = nullptr;
            }
    }
}

// exchange meets the other lanes of the mask and returns this lane's answer.
GOCUDA_CALL gocuda_u64 exchange(gocuda_u32 op, gocuda_u32 mask, gocuda_u64 v, gocuda_u32 arg) {
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
// get to this place in the code before the block cannot go on otherwise.
GOCUDA_CALL gocuda_u32 active() {
    Thread *t = self();
    Warp *warp = &t->block->warps[t->rank / 32];
    gocuda_u32 lane = t->rank % 32;
    asm volatile("" ::: "memory");
    tell(t);
    warp->converging |= 1u << lane;
    warp->in[lane] = (gocuda_u64)__builtin_return_address(0);
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
                gocuda_u32 here = 0;
                for (gocuda_u32 k = 0; k < 32; k++) here |= (gocuda_u32)(warp->in[k] == warp->in[j]) << k;
                warp->out[j] = here & warp->converging;
                append(b->ready, warp->waiting[j]);
                warp->waiting[j] = nullptr;
                any = true;
            }
        warp->converging = 0;
    }
    return any;
}

} // namespace gocuda
