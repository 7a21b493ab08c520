package programs

// Linked has functions store addresses that they are passed, in variables that live as long.
func Linked(out []int64, f []float64) {
	var l chain
	var nodes [4]link
	for i := range nodes {
		nodes[i].value = int64(i * i)
		l.push(&nodes[i])
	}
	for {
		var value int64
		if !l.pop(&value) {
			break
		}
		out[0] = out[0]*100 + value
	}
	a, b := link{value: 3}, link{value: 4}
	join(&a, &b)
	if true {
		c := link{value: 5}
		join(&b, &c)
	}
	out[1] = a.next.value*10 + a.next.next.value
	best := &a
	greater(&best, &b)
	out[2] = best.value
	set := func(p **link, x *link) { *p = x }
	set(&best, &a)
	out[3] = best.value
}

type link struct {
	next  *link
	value int64
}

type chain struct{ head *link }

func (c *chain) push(n *link) { n.next, c.head = c.head, n }
func (c *chain) pop(value *int64) bool {
	if c.head == nil {
		return false
	}
	*value, c.head = c.head.value, c.head.next
	return true
}
func join(a, b *link) { a.next = b }
func greater(p **link, x *link) {
	if x.value > (*p).value {
		*p = x
	}
}
