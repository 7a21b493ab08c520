package coll

import "gocuda/cudaapi/mpi/internal/transport"

// Sizes in bytes at which an algorithm for few rounds gives way to one for
// little traffic.
const (
	largeTree = 128 << 10 // binomial trees give way to pipelined chains
	piece     = 256 << 10 // a chain's unit: it stays in a core's cache
)

// Barrier: dissemination.
func Barrier(env Env) (*Request, error) {
	p := newPlan(env)
	empty := Memory{T: transport.Byte}
	for k := 1; k < p.size; k *= 2 {
		p.send(empty, (p.rank+k)%p.size)
		p.recv(empty, (p.rank-k+p.size)%p.size)
		p.wait()
	}
	return p.start()
}

// Bcast: binomial tree, or a chain in pieces.
func Bcast(env Env, buf Memory, root int) (*Request, error) {
	p := newPlan(env)
	at := func(v int) int { return (v + root) % p.size }
	v := (p.rank - root + p.size) % p.size
	if buf.Bytes() > largeTree {
		for _, m := range segments(buf, piece, 1) {
			if v > 0 {
				p.recv(m, at(v-1))
				p.wait() // also for the piece before, which goes on
			}
			if v+1 < p.size {
				p.send(m, at(v+1))
			}
		}
		return p.start()
	}
	k := 1
	for ; k < p.size; k *= 2 {
		if v&k != 0 {
			p.recv(buf, at(v-k))
			p.wait()
			break
		}
	}
	for k /= 2; k > 0; k /= 2 {
		if v+k < p.size {
			p.send(buf, at(v+k))
		}
	}
	return p.start()
}

// Reduce: binomial tree, or a chain in pieces. What does not commute is
// gathered at rank 0, in order, and sent to the root.
func Reduce(env Env, send, recv Memory, op Op, root int) (*Request, error) {
	p := newPlan(env)
	p.op = op
	if p.rank == root && send.InPlace() {
		send = recv
	}
	top := root
	if !op.Commutative {
		top = 0
	}
	result := recv // of the rank at the top
	if p.rank != root {
		result = Memory{}
	}
	v := (p.rank - top + p.size) % p.size
	at := func(v int) int { return (v + top) % p.size }
	if v == 0 && p.rank != root {
		result = p.alloc(send.N, send.T)
	}
	if p.size > 1 && send.Bytes() > largeTree {
		p.reduceChain(send, result, v, at)
	} else {
		p.reduceTree(send, result, v, at)
	}
	if top != root {
		p.wait()
		switch p.rank {
		case top:
			p.send(result, root)
		case root:
			p.recv(recv, top)
		}
	}
	return p.start()
}

// reduceTree leaves the sum over all v at v 0.
func (p *plan) reduceTree(send, result Memory, v int, at func(int) int) {
	sum := send
	var acc, tmp Memory
	for k := 1; k < p.size; k *= 2 {
		if v&k != 0 {
			p.send(sum, at(v-k))
			return
		}
		if v+k >= p.size {
			continue
		}
		if tmp.T == 0 {
			tmp = p.alloc(send.N, send.T)
			if acc = result; v != 0 {
				acc = p.alloc(send.N, send.T)
			}
		}
		p.recv(tmp, at(v+k))
		p.wait()
		p.reduce(acc, sum, tmp)
		sum = acc
	}
	if p.size == 1 {
		p.copy(result, send)
	}
}

// reduceChain does the same from the last v down, piece after piece.
func (p *plan) reduceChain(send, result Memory, v int, at func(int) int) {
	parts := segments(send, piece, p.unit())
	each := parts[0].N
	last := v == p.size-1
	var tmp [2]Memory
	var acc Memory
	if !last {
		tmp = [2]Memory{p.alloc(each, send.T), p.alloc(each, send.T)}
		if v > 0 {
			acc = p.alloc(each, send.T)
		}
	}
	for i, m := range parts {
		if last {
			p.send(m, at(v-1))
			continue
		}
		if i == 0 {
			p.recv(part(tmp[0], 0, m.N), at(v+1))
		}
		p.wait() // for this piece, and for the sending of the one before
		if i+1 < len(parts) {
			p.recv(part(tmp[(i+1)%2], 0, parts[i+1].N), at(v+1))
		}
		sum := part(result, i*each, m.N)
		if v > 0 {
			sum = part(acc, 0, m.N)
		}
		p.reduce(sum, m, part(tmp[i%2], 0, m.N))
		if v > 0 {
			p.send(sum, at(v-1))
		}
	}
}

// Gather: all send to the root. Nil counts are recv.N for each rank.
func Gather(env Env, send, recv Memory, counts, displs []int, root int) (*Request, error) {
	p := newPlan(env)
	if p.rank != root {
		p.send(send, root)
		return p.start()
	}
	of := parted(recv, counts, displs)
	for i := range p.size {
		if i != root {
			p.recv(of(i), i)
		} else if !send.InPlace() {
			p.copy(of(i), send)
		}
	}
	return p.start()
}

// Scatter: the root sends to all. Nil counts are send.N for each rank.
func Scatter(env Env, send Memory, counts, displs []int, recv Memory, root int) (*Request, error) {
	p := newPlan(env)
	if p.rank != root {
		p.recv(recv, root)
		return p.start()
	}
	of := parted(send, counts, displs)
	for i := range p.size {
		if i != root {
			p.send(of(i), i)
		} else if !recv.InPlace() {
			p.copy(recv, of(i))
		}
	}
	return p.start()
}

// parted gives rank i's part of m: counts[i] elements from displs[i], or, with
// nil counts, the i-th m.N elements.
func parted(m Memory, counts, displs []int) func(i int) Memory {
	if counts == nil {
		return func(i int) Memory { return part(m, i*m.N, m.N) }
	}
	return func(i int) Memory { return part(m, displs[i], counts[i]) }
}
