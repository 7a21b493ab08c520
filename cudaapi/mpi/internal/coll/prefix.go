package coll

// Scan: recursive doubling, in the order of ranks.
func Scan(env Env, send, recv Memory, op Op) (*Request, error) {
	p := newPlan(env)
	p.op = op
	if send.InPlace() {
		send = recv
	}
	recv = whole(recv, send.N)
	p.copy(recv, send)
	p.prefix(send, recv, true)
	return p.start()
}

// Exscan is Scan without the rank's own part. Rank 0 gets nothing.
func Exscan(env Env, send, recv Memory, op Op) (*Request, error) {
	p := newPlan(env)
	p.op = op
	if send.InPlace() {
		send = recv
	}
	p.prefix(send, whole(recv, send.N), false)
	return p.start()
}

// prefix adds what the ranks below have to result, which begins empty unless
// begun.
func (p *plan) prefix(send, result Memory, begun bool) {
	if p.size == 1 {
		return
	}
	sum, tmp := p.alloc(send.N, send.T), p.alloc(send.N, send.T) // sum: of the ranks met so far
	p.copy(sum, send)
	for k := 1; k < p.size; k *= 2 {
		peer := p.rank ^ k
		if peer >= p.size {
			continue
		}
		p.send(sum, peer)
		p.recv(tmp, peer)
		p.wait()
		if peer > p.rank {
			p.reduce(sum, sum, tmp)
			continue
		}
		p.reduce(sum, tmp, sum)
		if begun {
			p.reduce(result, tmp, result)
		} else {
			p.copy(result, tmp)
			begun = true
		}
	}
}

// ReduceScatter: each rank reduces its own part, which the others send it: all
// at once and in the order of ranks, or, for much data that commutes, one
// after the other.
func ReduceScatter(env Env, send, recv Memory, counts []int, op Op) (*Request, error) {
	p := newPlan(env)
	p.op = op
	inPlace := send.InPlace()
	if inPlace {
		send = recv
	}
	displs := make([]int, p.size)
	for i := 1; i < p.size; i++ {
		displs[i] = displs[i-1] + counts[i-1]
	}
	of := parted(whole(send, 0), counts, displs)
	own := of(p.rank)
	acc := whole(recv, own.N)
	if inPlace && p.size > 1 {
		acc = p.alloc(own.N, own.T) // the parts of the others are still to be sent
	}
	if op.Commutative && own.Bytes() > largeSpread {
		p.reducePairwise(of, own, acc)
	} else {
		p.reduceInOrder(of, own, acc)
	}
	if inPlace {
		p.wait()
		p.copy(whole(recv, own.N), acc)
	}
	return p.start()
}

func (p *plan) reduceInOrder(of func(int) Memory, own, acc Memory) {
	all := p.alloc(own.N*(p.size-1), own.T)
	from := make([]Memory, p.size)
	at := 0
	for i := range from {
		if from[i] = own; i != p.rank {
			from[i] = part(all, at, own.N)
			at += own.N
			p.recv(from[i], i)
		}
	}
	for k := 1; k < p.size; k++ {
		dest := (p.rank + k) % p.size
		p.send(of(dest), dest)
	}
	p.wait()
	sum := from[0]
	for _, m := range from[1:] {
		p.reduce(acc, sum, m)
		sum = acc
	}
	if p.size == 1 {
		p.copy(acc, own)
	}
}

func (p *plan) reducePairwise(of func(int) Memory, own, acc Memory) {
	tmp := p.alloc(own.N, own.T)
	sum := own
	for k := 1; k < p.size; k++ {
		dest, src := (p.rank+k)%p.size, (p.rank-k+p.size)%p.size
		p.send(of(dest), dest)
		p.recv(tmp, src)
		p.wait()
		p.reduce(acc, sum, tmp)
		sum = acc
	}
	if p.size == 1 {
		p.copy(acc, own)
	}
}
