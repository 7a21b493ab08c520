package programs

func ForPost(out []int64, f []float64) {
	for i, j := 0, 20; i < j; i, j = i+3, j-1 {
		out[i%64] = int64(j)
	}
}

func ForForever(out []int64, f []float64) {
	i := 0
	for {
		if i++; i > 40 {
			break
		}
		if i&3 == 1 {
			continue
		}
		out[i] = int64(i * i)
	}
}

func ForNested(out []int64, f []float64) {
	for i := 0; i < 8; i++ {
		for j := i; j < 8; j++ {
			for k := 0; k <= j-i; k++ {
				out[i*8+j] += int64(k + 1)
			}
		}
	}
}

func BreakInner(out []int64, f []float64) {
	for i := range 8 {
		for j := range 8 {
			if j > i {
				break
			}
			out[i] += int64(j)
		}
	}
}

func ContinueOuter(out []int64, f []float64) {
rows:
	for i := range 8 {
		for j := range 8 {
			switch {
			case (i+j)%5 == 4:
				continue rows
			case j == 7:
				break rows
			}
			out[i*8+j] = 1
		}
	}
}

func BreakSwitch(out []int64, f []float64) {
	for i := range 10 {
	block:
		switch {
		case i < 9:
			if i%2 == 0 {
				break block
			}
			out[i] = 1
			for {
				if i > 5 {
					break block
				}
				break
			}
			out[i] += 10
		}
		out[20+i] = out[i] + 1
	}
}

func BreakSelect(out []int64, f []float64) {
loop:
	for i := 0; ; i++ {
		switch i {
		case 3:
			break
		case 7:
			break loop
		default:
			out[i] = 5
		}
		out[10+i]++
	}
}

func GotoBack(out []int64, f []float64) {
	n := int64(100)
next:
	if n != 1 {
		if n%2 == 0 {
			n /= 2
		} else {
			n = n*3 + 1
		}
		out[0]++
		goto next
	}
}

func GotoOut(out []int64, f []float64) {
	for i := range 5 {
		for j := range 5 {
			if i*j == 6 {
				goto found
			}
			out[i*5+j] = 1
		}
	}
	out[40] = 1
found:
	out[41] = 2
}

func GotoMany(out []int64, f []float64) {
	state, n := 0, int64(0)
start:
	n++
	if n > 30 {
		goto end
	}
	switch state {
	case 0:
		state = 1
		goto start
	case 1:
		out[n]++
		state = 2
	case 2:
		state = 0
		goto again
	}
	out[40]++
again:
	out[41]++
	goto start
end:
	out[42] = n
}

func GotoPast(out []int64, f []float64) {
	add := func(n int64) int64 { return n + 1 }
	i := 0
again:
	if i > 3 {
		goto done
	}
	visit(3, func(k int64) { out[i] += add(k) })
	out[10+i] = apply2(func(x int64) int64 { return x * int64(i) }, 7)
	i++
	goto again
done:
	out[20] = int64(i)
}

func visit(n int64, do func(int64)) {
	for i := range n {
		do(i)
	}
}
func apply2(g func(int64) int64, x int64) int64 { return g(g(x)) }

func SwitchTag(out []int64, f []float64) {
	for i := range 20 {
		switch i * i % 7 {
		case 0:
			out[i] = 100
		case 1, 2:
			out[i] = 200
		case 4:
			out[i] = 300
		}
	}
}

func SwitchCalls(out []int64, f []float64) {
	n := int64(0)
	next := func() int64 { n++; return n }
	switch next() {
	case next(), next():
		out[0] = 1
	case 1:
		out[0] = 2
	case next():
		out[0] = 3
	}
	out[1] = n
}

func SwitchInit(out []int64, f []float64) {
	for i := range 6 {
		switch x, y := i*2, i*3; {
		case x > 6 && y > 9:
			out[i] = int64(x + y)
		case x == 4:
			out[i] = int64(y)
		default:
			out[i] = int64(x)
		}
	}
}

func SwitchDefaultFirst(out []int64, f []float64) {
	for i := range 5 {
		switch i {
		default:
			out[i] = 9
			fallthrough
		case 1:
			out[i] += 10
		case 2:
			out[i] = 20
			fallthrough
		case 3:
			out[i] += 30
		}
	}
}

func SwitchFloat(out []int64, f []float64) {
	for i := range 4 {
		switch x := float64(i) / 2; x {
		case 0.5:
			out[i] = 5
		case 1, 1.5:
			out[i] = 10
		}
	}
	switch c := complex(1, 2); c {
	case 1 + 2i:
		out[10] = 1
	}
	switch b := out[10] == 1; b {
	case true:
		out[11] = 1
	case false:
		out[11] = 2
	}
}

func SwitchStruct(out []int64, f []float64) {
	type key struct{ a, b int8 }
	for i := range int8(4) {
		switch (key{i, i * 2}) {
		case key{1, 2}:
			out[i] = 1
		case key{3, 6}, key{0, 1}:
			out[i] = 2
		}
	}
	switch [2]int64{out[0], out[1]} {
	case [2]int64{0, 1}:
		out[10] = 4
	}
}

func SwitchInLoop(out []int64, f []float64) {
	for i := 0; i < 12; i++ {
		switch {
		case i%3 == 0:
			continue
		case i == 10:
			break
		default:
			for j := range 3 {
				if j == i%3 {
					break
				}
				out[i]++
			}
		}
		out[20+i]++
	}
}

func IfChain(out []int64, f []float64) {
	for i := range 12 {
		if a := i % 2; a == 0 {
			out[i] = 1
		} else if b := i % 3; b == 0 {
			out[i] = int64(2 + a)
		} else if c := a + b; c > 2 {
			out[i] = int64(c)
		} else {
			out[i] = int64(a*100 + b*10 + c)
		}
	}
}

func RangeTyped(out []int64, f []float64) {
	for i := range uint8(200) {
		out[i%64] += int64(i)
	}
	type small int16
	for i := range small(5) {
		out[i] += int64(i)
	}
	const n = 4
	for i := range n {
		out[10+i]++
	}
	for range -3 {
		out[0] = -1
	}
}

func RangeOnce(out []int64, f []float64) {
	calls := int64(0)
	limit := func() int { calls++; return 5 }
	for i := range limit() {
		out[i] = 1
	}
	s := out[:4]
	for i := range s {
		s = out[:8]
		out[20+i] = int64(len(s))
	}
	a := [3]int64{1, 2, 3}
	for i, v := range a {
		a = [3]int64{9, 9, 9}
		out[30+i] = v
	}
	out[40] = calls
}

func RangeAssign(out []int64, f []float64) {
	var at [2]int
	for at[1] = range 6 {
	}
	var k int
	for k, out[1] = range out[10:13] {
		out[11+k] = int64(k + 5)
	}
	out[0] = int64(at[1]*10 + k)
}

func RangeNested(out []int64, f []float64) {
	grid := [4][4]int64{{1}, {0, 2}, {0, 0, 3}, {3: 4}}
	for i, row := range grid {
		for j, v := range row {
			out[i*4+j] = v * int64(i+1)
		}
	}
	for _, row := range grid[1:3] {
		for range row {
			out[20]++
		}
	}
}

func RangeText(out []int64, f []float64) {
	for i, r := range "añ€😀z" {
		out[i] = int64(r)
	}
	for range "four" {
		out[30]++
	}
	const text = "xyz"
	for i := 0; i < len(text); i++ {
		out[40+i] = int64(text[i])
	}
}

func LoopCapture(out []int64, f []float64) {
	for i := 0; i < 4; i++ {
		get := func() int64 { return int64(i) * 10 }
		i := i + 1
		out[i] = get() + int64(i)
	}
	for i := 0; i < 6; i++ {
		skip := func() { i++ }
		skip()
		out[10+i] = 1
	}
	for i := 0; i < 8; i++ {
		p := &i
		if i == 3 {
			*p = 5
			continue
		}
		out[20+i] = int64(*p)
	}
}

func EarlyReturn(out []int64, f []float64) {
	out[0] = firstOver(out[:0], 3)
	s := []int64{1, 5, 2, 9}
	out[1], out[2], out[3] = firstOver(s, 3), firstOver(s, 5), firstOver(s, 10)
	if out[1] > 0 {
		return
	}
	out[4] = 1
}

func firstOver(s []int64, limit int64) int64 {
	for i, v := range s {
		if v > limit {
			return int64(i)
		}
	}
	return -1
}

func EmptyParts(out []int64, f []float64) {

	{
	}
	if out[0] == 0 {
	} else {
		out[0] = 1
	}
	for range 3 {
	}
	switch {
	case false:
	}
	for false {
	}
	out[1] = 1
	return
}

func pairs(yield func(int64, float64) bool) {
	for i := range int64(6) {
		if !yield(i, float64(i)/2) {
			return
		}
	}
}

func threeTimes(yield func() bool) {
	_ = yield() && yield() && yield()
}

func RangeFunc(out []int64, f []float64) {
	for i, x := range pairs {
		out[i] = i * 2
		f[i] = x
	}
	for i := range pairs {
		out[10] += i
	}
	for range threeTimes {
		out[11]++
	}
	var i int64
	for i, f[20] = range pairs {
	}
	out[12] = i
	for i, x := range pairs {
		i *= 2
		x++
		out[20] += i
		f[21] += x
	}
}

func RangeFuncBreak(out []int64, f []float64) {
	for i := range pairs {
		if i == 1 {
			continue
		}
		if i == 4 {
			break
		}
		out[i] = 7
	}
	for i := range pairs {
		for j := range 5 {
			if j == 2 {
				break
			}
			if i == 3 {
				continue
			}
			out[10+i]++
		}
	}
}

func findPair(limit float64) (int64, float64) {
	for i, x := range pairs {
		if x > limit {
			return i, x
		}
	}
	return -1, -1
}

func findNested(sum int64) (a, b int64) {
	for i := range pairs {
		for j := range pairs {
			if i+j == sum && i > j {
				return i, j
			}
		}
	}
	a = -1
	return
}

func RangeFuncReturn(out []int64, f []float64) {
	out[0], f[0] = findPair(1)
	out[1], f[1] = findPair(10)
	out[2], out[3] = findNested(7)
	out[4], out[5] = findNested(100)
	for range threeTimes {
		out[6]++
		if out[6] == 2 {
			return
		}
	}
	out[7] = 1
}

func RangeFuncLabels(out []int64, f []float64) {
outer:
	for i := range pairs {
		for j := range pairs {
			if j == 3 {
				continue outer
			}
			if i == 4 {
				break outer
			}
			out[i*6+j] = 1
		}
	}
next:
	for k := range 5 {
		for i := range pairs {
			if i == int64(k) {
				continue next
			}
			if k == 4 {
				break next
			}
			out[40+k]++
		}
	}
}

type series struct {
	from, step int64
	n          int
}

func (s series) all(yield func(int, int64) bool) {
	x := s.from
	for i := range s.n {
		if !yield(i, x) {
			return
		}
		x += s.step
	}
}

func (s *series) drain(yield func(int64) bool) {
	for s.n > 0 {
		s.n--
		if !yield(s.from + int64(s.n)*s.step) {
			break
		}
	}
}

func RangeFuncMethod(out []int64, f []float64) {
	s := series{5, 3, 7}
	for i, x := range s.all {
		out[i] = x
	}
	for x := range s.drain {
		out[10+s.n] = x
		if s.n == 2 {
			break
		}
	}
	out[20] = int64(s.n)
}

func countTo(n int64) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func filtered(s []int64, keep func(int64) bool) func(func(int, int64) bool) {
	return func(yield func(int, int64) bool) {
		for i, x := range s {
			if keep(x) && !yield(i, x) {
				return
			}
		}
	}
}

func RangeFuncInline(out []int64, f []float64) {
	for i := range countTo(5) {
		out[i] = i + 1
	}
	for i := range countTo(3) {
		for j := range countTo(i + 1) {
			out[10+i*3+j]++
		}
	}
	for i, x := range filtered(out[:5], func(x int64) bool { return x%2 == 1 }) {
		out[20+i] = x
	}
	each := func(yield func(int64) bool) { _ = yield(7) && yield(8) }
	for x := range each {
		out[30] = out[30]*10 + x
	}
}

func collect[T any](dst []T, seq func(func(T) bool)) (n int) {
	for v := range seq {
		if n == len(dst) {
			break
		}
		dst[n] = v
		n++
	}
	return n
}

func backward[T any](s []T) func(func(T) bool) {
	return func(yield func(T) bool) {
		for i := len(s) - 1; i >= 0; i-- {
			if !yield(s[i]) {
				return
			}
		}
	}
}

func RangeFuncGeneric(out []int64, f []float64) {
	out[0] = int64(collect(out[1:], countTo(6)))
	out[10] = int64(collect(f, backward([]float64{1, 2, 3})))
	for r := range backward([]rune{'a', 'b'}) {
		out[20] = out[20]*1000 + int64(r)
	}
}

func RangeFuncClosures(out []int64, f []float64) {
	total := int64(0)
	for i := range countTo(4) {
		add := func(k int64) { total += i * k }
		add(1)
		for j := range countTo(i) {
			add(j)
		}
	}
	out[0] = total
again:
	for i := range countTo(3) {
		switch i {
		case 1:
			goto inside
		case 2:
			break again
		}
		out[1]++
	inside:
		out[2]++
	}
}
