package coll

import "gocuda/cudaapi/mpi/internal/transport"

const (
	largeAllreduce = 16 << 10 // recursive doubling gives way to halving and doubling
	hugeAllreduce  = 1 << 20  // that gives way to the ring
	largeSpread    = 64 << 10 // bytes to each rank: all at once gives way to one after the other
	smallSpread    = 4 << 10  // bytes to each rank: up to here, few messages are worth a copy
	fewRanks       = 4        // all at once is few messages
)

// Allreduce: recursive doubling; for much data that commutes, recursive
// halving and doubling (Rabenseifner), then a ring.
func Allreduce(env Env, send, recv Memory, op Op) (*Request, error) {
	p := newPlan(env)
	p.op = op
	if send.InPlace() {
		send = recv
	}
	recv = whole(recv, send.N)
	switch bytes := send.Bytes(); {
	case p.size == 1:
		p.copy(recv, send)
	case !op.Commutative || bytes <= largeAllreduce || send.N < p.size:
		p.fold(send, recv, p.doubling)
	case bytes <= hugeAllreduce:
		p.fold(send, recv, p.halving)
	default:
		p.ring(send, recv)
	}
	return p.start()
}

// fold makes the number of ranks a power of two, for core, which leaves the
// result in acc: of the first pairs of ranks, the odd one stands for both.
// acc is recv; sum is where this rank's contribution is.
func (p *plan) fold(send, recv Memory, core func(sum, acc, tmp Memory, v, n int, at func(int) int)) {
	n := 1
	for n*2 <= p.size {
		n *= 2
	}
	extra := p.size - n
	at := func(v int) int {
		if v < extra {
			return 2*v + 1
		}
		return v + extra
	}
	if p.rank < 2*extra && p.rank%2 == 0 {
		p.send(send, p.rank+1)
		p.recv(recv, p.rank+1) // what comes back has waited for what was sent
		return
	}
	tmp := p.alloc(send.N, send.T)
	v, sum := p.rank-extra, send
	if p.rank < 2*extra {
		v = p.rank / 2
		p.recv(tmp, p.rank-1)
		p.wait()
		p.reduce(recv, tmp, send)
		sum = recv
	}
	core(sum, recv, tmp, v, n, at)
	if p.rank < 2*extra {
		p.send(recv, p.rank-1)
	}
}

// doubling keeps the order of ranks.
func (p *plan) doubling(sum, acc, tmp Memory, v, n int, at func(int) int) {
	for k := 1; k < n; k *= 2 {
		p.send(sum, at(v^k))
		p.recv(tmp, at(v^k))
		p.wait()
		if v&k != 0 {
			p.reduce(acc, tmp, sum)
		} else {
			p.reduce(acc, sum, tmp)
		}
		sum = acc
	}
}

func (p *plan) halving(sum, acc, tmp Memory, v, n int, at func(int) int) {
	type span struct{ lo, hi int }
	cut := blocks(acc.N, n, p.unit())
	mine := span{0, n}
	var given []span
	for k := n / 2; k > 0; k /= 2 {
		mid := (mine.lo + mine.hi) / 2
		keep, give := span{mine.lo, mid}, span{mid, mine.hi}
		if v&k != 0 {
			keep, give = give, keep
		}
		p.send(between(sum, cut[give.lo], cut[give.hi]), at(v^k))
		p.recv(between(tmp, cut[keep.lo], cut[keep.hi]), at(v^k))
		p.wait()
		p.reduce(between(acc, cut[keep.lo], cut[keep.hi]), between(sum, cut[keep.lo], cut[keep.hi]), between(tmp, cut[keep.lo], cut[keep.hi]))
		sum, mine = acc, keep
		given = append(given, give)
	}
	for k := 1; k < n; k *= 2 {
		theirs := given[len(given)-1]
		given = given[:len(given)-1]
		p.send(between(acc, cut[mine.lo], cut[mine.hi]), at(v^k))
		p.recv(between(acc, cut[theirs.lo], cut[theirs.hi]), at(v^k))
		p.wait()
		mine = span{min(mine.lo, theirs.lo), max(mine.hi, theirs.hi)}
	}
}

// ring: the parts go round twice, first to be reduced and then to be spread.
func (p *plan) ring(send, recv Memory) {
	cut := blocks(recv.N, p.size, p.unit())
	next, prev := (p.rank+1)%p.size, (p.rank-1+p.size)%p.size
	each := max(1, piece/recv.T.Size()/p.unit()) * p.unit()
	tmp := [2]Memory{p.alloc(each, recv.T), p.alloc(each, recv.T)}
	for k := range p.size - 1 {
		from := (p.rank - k + p.size) % p.size
		to := (from - 1 + p.size) % p.size
		src := send
		if k > 0 {
			src = recv
		}
		// Parts differ by an element at most, so one may have a piece more.
		out := segments(between(src, cut[from], cut[from+1]), piece, p.unit())
		own := segments(between(send, cut[to], cut[to+1]), piece, p.unit())
		acc := segments(between(recv, cut[to], cut[to+1]), piece, p.unit())
		begin := func(i int) {
			if i < len(out) {
				p.send(out[i], next)
			}
			if i < len(own) {
				p.recv(part(tmp[i%2], 0, own[i].N), prev)
			}
		}
		begin(0)
		for i := range max(len(out), len(own)) {
			p.wait()
			begin(i + 1)
			if i < len(own) {
				p.reduce(acc[i], own[i], part(tmp[i%2], 0, own[i].N))
			}
		}
	}
	for k := range p.size - 1 {
		from := (p.rank + 1 - k + p.size) % p.size
		to := (from - 1 + p.size) % p.size
		p.send(between(recv, cut[from], cut[from+1]), next)
		p.recv(between(recv, cut[to], cut[to+1]), prev)
		p.wait()
	}
}

// Allgather: all to all at once; among more than a few ranks, in rounds that double
// what each has, for little data (Bruck), or round a ring. Nil counts are recv.N
// for each rank.
func Allgather(env Env, send, recv Memory, counts, displs []int) (*Request, error) {
	p := newPlan(env)
	of := parted(recv, counts, displs)
	if !send.InPlace() {
		p.copy(of(p.rank), send)
	}
	most := 0
	for i := range p.size {
		most = max(most, of(i).Bytes())
	}
	if most <= smallSpread && p.size > fewRanks {
		p.bruck(recv.T, of)
		return p.start()
	}
	if most <= largeSpread {
		for k := 1; k < p.size; k++ {
			p.recv(of((p.rank-k+p.size)%p.size), (p.rank-k+p.size)%p.size)
			p.send(of(p.rank), (p.rank+k)%p.size)
		}
		return p.start()
	}
	for k := range p.size - 1 {
		from := (p.rank - k + p.size) % p.size
		to := (from - 1 + p.size) % p.size
		p.recv(of(to), (p.rank-1+p.size)%p.size)
		p.send(of(from), (p.rank+1)%p.size)
		p.wait()
	}
	return p.start()
}

// bruck gathers the ranks' parts, of which this one's is there: in round k each rank
// gives what it has to the rank 2^k below it. They lie in the order of ranks from this
// one on, until all are there.
func (p *plan) bruck(t transport.Type, of func(int) Memory) {
	at := make([]int, p.size+1)
	for i := range p.size {
		at[i+1] = at[i] + of((p.rank+i)%p.size).N
	}
	all := p.alloc(at[p.size], t)
	p.copy(between(all, 0, at[1]), of(p.rank))
	for k := 1; k < p.size; k *= 2 {
		n := min(k, p.size-k)
		p.recv(between(all, at[k], at[k+n]), (p.rank+k)%p.size)
		p.send(between(all, 0, at[n]), (p.rank-k+p.size)%p.size)
		p.wait()
	}
	for i := 1; i < p.size; i++ {
		p.copy(of((p.rank+i)%p.size), between(all, at[i], at[i+1]))
	}
}

// Alltoall: each rank with each other, at once or pair after pair. Nil counts are
// send.N and recv.N.
func Alltoall(env Env, send Memory, scounts, sdispls []int, recv Memory, rcounts, rdispls []int) (*Request, error) {
	p := newPlan(env)
	to, from := parted(send, scounts, sdispls), parted(recv, rcounts, rdispls)
	if send.InPlace() {
		p.exchange(from)
		return p.start()
	}
	p.copy(from(p.rank), to(p.rank))
	for k := 1; k < p.size; k++ {
		dest, src := (p.rank+k)%p.size, (p.rank-k+p.size)%p.size
		p.recv(from(src), src)
		p.send(to(dest), dest)
		// Whether to pause is this rank's own matter: its partners do not
		// depend on it.
		if to(dest).Bytes() > largeSpread {
			p.wait()
		}
	}
	return p.start()
}

// exchange swaps of(i) with rank i's part for this one.
func (p *plan) exchange(of func(int) Memory) {
	most := 0
	for i := range p.size {
		if i != p.rank {
			most = max(most, of(i).N)
		}
	}
	tmp := p.alloc(most, of(0).T)
	for k := range p.size {
		peer := (k - p.rank + p.size) % p.size
		if peer == p.rank {
			continue
		}
		m := of(peer)
		out := part(tmp, 0, m.N)
		p.copy(out, m)
		p.send(out, peer)
		p.recv(m, peer)
		p.wait()
	}
}
