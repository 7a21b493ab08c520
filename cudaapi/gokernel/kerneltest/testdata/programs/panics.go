package programs

type place struct{ X, Y int64 }

func (p *place) move(dx int64) { p.X += dx }

func PanicIndex(out []int64, f []float64) {
	out[0] = 1
	i := 64
	out[i] = 2
}

func PanicNegative(out []int64, f []float64) {
	i := -1
	for i = range 3 {
	}
	out[i-5] = 2
}

func PanicRangeNil(out []int64, f []float64) {
	var p *[4]int64
	if out[5] != 0 {
		p = new([4]int64)
	}
	for i := range p {
		out[i] = 2
	}
	for i, _ := range p {
		out[i]++
	}
	for i, v := range p {
		out[9] = int64(i) + v
	}
}

func PanicRangeNilAssign(out []int64, f []float64) {
	var p *struct{ pad, at [4]int64 }
	if out[5] != 0 {
		p = new(struct{ pad, at [4]int64 })
	}
	i := 3
	for i = range p.at {
		out[i] = 2
	}
	for i, out[8] = range [...]int64{4, 5} {
	}
	out[6] = int64(i)
	for i, _ = range p.at {
		out[7] = 1
	}
}

func PanicArray(out []int64, f []float64) {
	var a [4]int64
	for i := 0; i <= 4; i++ {
		a[i] = 1
		out[0]++
	}
}

func PanicDivide(out []int64, f []float64) {
	out[0] = 5
	out[1] = out[0] / out[2]
}

func PanicRemainder(out []int64, f []float64) {
	var z uint8
	out[0] = int64(7 % z)
}

func PanicNil(out []int64, f []float64) {
	var p *place
	out[0] = 3
	out[1] = p.X
}

func PanicNilMethod(out []int64, f []float64) {
	var p *place
	p.move(1)
}

func PanicSlice(out []int64, f []float64) {
	n := 70
	s := out[:n]
	out[0] = int64(len(s))
}

func PanicShift(out []int64, f []float64) {
	n := int(out[0]) - 1
	out[1] = 1 << n
}

func PanicWords(out []int64, f []float64) {
	out[0] = 4
	if out[0] == 4 {
		panic("four is too much")
	}
	out[1] = 1
}

func deep(out []int64, i int) int64 {
	out[i]++
	return out[i+60]
}

func PanicDeep(out []int64, f []float64) {
	out[1] = deep(out, 3)
	out[2] = deep(out, 9)
	out[4] = 1
}

func PanicClosure(out []int64, f []float64) {
	get := func(i int) int64 { return out[i] }
	out[0] = 1 + get(5)
	out[1] = 1 + get(-5+int(out[9]))
	out[2] = 1
}

func PanicConvert(out []int64, f []float64) {
	a := [4]int64(out[:3])
	out[0] = a[0]
}

func PanicGuard(out []int64, f []float64) {
	for i := range 10 {
		out[i] = int64(i)
		if i == 6 {
			panic("six")
		}
	}
}

func PanicNumber(out []int64, f []float64) {
	if out[0] == 0 {
		panic(42)
	}
}

func PanicSliceOrder(out []int64, f []float64) {
	lo, hi := 5, 3
	out[0] = 1
	s := out[lo:hi]
	out[1] = int64(len(s))
}

func PanicSliceCap(out []int64, f []float64) {
	s := out[:4:8]
	n := 9
	s = s[:n]
	out[0] = 1
}

func PanicNilSlice(out []int64, f []float64) {
	var s []int64
	i := int(out[0])
	out[1] = 1
	out[2] = s[i]
}

func PanicUint(out []int64, f []float64) {
	var big uint64 = 1 << 63
	out[0] = 2
	out[big] = 1
}

func PanicString(out []int64, f []float64) {
	i := 5 + int(out[0])
	out[1] = int64("hello"[i])
}

func PanicNilArray(out []int64, f []float64) {
	var p *[4]int64
	out[0] = int64(len(p))
	p[out[1]] = 1
}

func PanicInFuncLoop(out []int64, f []float64) {
	for i := range upTo {
		out[i] = out[i+59] + 1
	}
}

func upTo(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

func PanicAssignOp(out []int64, f []float64) {
	z := out[5]
	out[0] = 7
	out[0] %= z
}

func PanicShortCircuit(out []int64, f []float64) {
	i := 64
	if i < len(out) && out[i] == 0 {
		out[0] = 1
	}
	if i >= len(out) || out[i] == 0 {
		out[1] = 1
	}
	if i > 3 && out[i] == 0 {
		out[2] = 1
	}
}

func PanicMethodValue(out []int64, f []float64) {
	p := (*place)(nil)
	out[0] = 1
	g := p.at
	out[1] = g()
}

func (p place) at() int64 { return p.X }

func PanicLoopMiddle(out []int64, f []float64) {
	for i := 0; i < 100; i++ {
		out[i] = int64(i + 1)
		f[i/2] += 1
	}
}

func PanicLoopDown(out []int64, f []float64) {
	s := out[:20]
	for i := 10; i >= -1; i -= 3 {
		s[i] = int64(i)
		f[20-i]++
	}
}

func PanicLoopStride(out []int64, f []float64) {
	n := 7
	var table [8][8]int64
	for k := 0; k < 12; k += 2 {
		out[k*n] = 1
		table[k][3] = 2
		out[1] += table[k][3]
	}
}

func PanicLoopWraps(out []int64, f []float64) {
	n := 1 << 61
	for k := range 17 {
		out[k*n+int(out[0])] += 2
		if k > 3 {
			out[40+k]++
		}
		if k == 15 {
			out[k-16+int(out[1])]++
		}
	}
}

func PanicSecondPlace(out []int64, f []float64) {
	var p *place
	out[2], p.X = 6, 7
}

func PanicThirdIndex(out []int64, f []float64) {
	i := 1
	i, out[i], out[i+64], out[3] = 9, 5, 6, 7
}

func PanicSecondOfCall(out []int64, f []float64) {
	i := int64(70)
	pair := func() (int64, int64) { i++; return 4, 5 }
	out[1], out[i] = pair()
}

func PanicSwap(out []int64, f []float64) {
	at := func(i int64) int64 { out[5]++; return i }
	var p *place
	out[at(3)], out[at(4)], p.Y = 1, 2, 3
}

func PanicMovedSlice(out []int64, f []float64) {
	s, i := out[:3], 2
	s, s[i], i = out[:1], 8, 0
	s[i], s[i+1] = 2, 3
}
