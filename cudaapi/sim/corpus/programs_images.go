package corpus

import (
	"math"
	"slices"
)

// images are the cases of images.cu.
func images() []kernelCase {
	const w, h = 45, 30
	grid, block := dim(3, 4), dim(16, 8)
	p := bytesOf(w*h, 1)
	dark := fill(w*h, func(i int) byte { return p[i] / 3 })
	bins, cumulated := make([]uint32, 256), make([]uint32, 256)
	for _, v := range dark {
		bins[v]++
	}
	sum := uint32(0)
	for i, n := range bins {
		sum += n
		cumulated[i] = sum
	}
	at := func(p []byte, x, y, w, h int) int { return int(p[min(max(y, 0), h-1)*w+min(max(x, 0), w-1)]) }
	near := func(i, r int) (v []int) { // those around pixel i, row by row
		for dy := -r; dy <= r; dy++ {
			for dx := -r; dx <= r; dx++ {
				v = append(v, at(p, i%w+dx, i/w+dy, w, h))
			}
		}
		return v
	}
	abs := func(v int) int { return max(v, -v) }
	filter := func(f func(i int) int) *buffer { return out(fill(w*h, func(i int) byte { return byte(f(i)) })) }
	box := filter(func(i int) int {
		s := 0
		for _, v := range near(i, 2) {
			s += v
		}
		return (s + 12) / 25
	})
	sobel := filter(func(i int) int {
		v := near(i, 1)
		gx := v[2] + 2*v[5] + v[8] - v[0] - 2*v[3] - v[6]
		gy := v[6] + 2*v[7] + v[8] - v[0] - 2*v[1] - v[2]
		return min(abs(gx)+abs(gy), 255)
	})
	median := filter(func(i int) int {
		v := near(i, 1)
		slices.Sort(v)
		return v[4]
	})
	rgba, under := bytesOf(4*w*h, 2), bytesOf(4*w*h, 3)
	gray := filter(func(i int) int {
		return (77*int(rgba[4*i]) + 150*int(rgba[4*i+1]) + 29*int(rgba[4*i+2]) + 128) >> 8
	})
	blend := fill(4*w*h, func(i int) byte {
		a, b, alpha := int(rgba[i]), int(under[i]), int(rgba[i|3])
		if i%4 == 3 {
			return byte(max(a, b))
		}
		return byte((a*alpha + b*(255-alpha) + 127) / 255)
	})
	rgb := bytesOf(3*w*h, 4)
	rotated := make([]byte, 3*w*h)
	for i := range w * h {
		copy(rotated[3*(i%w*h+h-1-i/w):], rgb[3*i:3*i+3])
	}
	const w1, h1 = 61, 17
	scaled := fill(w1*h1, func(i int) byte {
		fx, fy := i%w1*((w-1)<<8)/(w1-1), i/w1*((h-1)<<8)/(h1-1)
		u, v := fx>>8, fy>>8
		fx, fy = fx&255, fy&255
		top := at(p, u, v, w, h)*(256-fx) + at(p, u+1, v, w, h)*fx
		bottom := at(p, u, v+1, w, h)*(256-fx) + at(p, u+1, v+1, w, h)*fx
		return byte((top*(256-fy) + bottom*fy + 1<<15) >> 16)
	})
	integral := fill(w*h, func(i int) (s uint32) {
		for k := range i + 1 {
			if k%w <= i%w {
				s += uint32(p[k])
			}
		}
		return s
	})
	view := []int32{-(7 << 20) / 4, -(1 << 14), 1 << 12}
	ship := fill(w*h, func(i int) (n int32) {
		cx, cy := int64(view[0])+int64(i%w-w/2)*int64(view[2]), int64(view[1])+int64(i/w-h/2)*int64(view[2])
		for a, b := int64(0), int64(0); n < 100 && a*a+b*b < 4<<40; n++ {
			a, b = (a*a-b*b)>>20+cx, max(a*b, -a*b)>>19+cy
		}
		return n
	})
	blocks := bytesOf(16*16, 5)
	dct := fill(16*16, func(i int) float32 {
		u, v, s := i%8, i/16%8, 0.0
		for k := range 64 {
			x, y := k%8, k/8
			s += (float64(blocks[(i/128*8+y)*16+i%16/8*8+x]) - 128) * math.Cos(float64((2*x+1)*u)*math.Pi/16) * math.Cos(float64((2*y+1)*v)*math.Pi/16)
		}
		for _, f := range []int{u, v} {
			if f == 0 {
				s *= math.Sqrt(0.125)
			} else {
				s /= 2
			}
		}
		return float32(s)
	})
	bp, bsum := input(p), out(integral)
	plane := []any{int32(w), int32(h)}
	on := func(kernel string, args ...any) launch { return launch{kernel, grid, block, 0, append(args, plane...)} }
	extreme := func(f func([]int) int) *buffer { return filter(func(i int) int { return f(near(i, 1)) }) }
	return []kernelCase{
		program("a histogram", launch{"histogram", dim(3), dim(128), 0, []any{input(dark), out(bins), int32(w * h)}}),
		program("equalized", launch{"equalize", dim(6), dim(256), 0, []any{input(dark), input(bins), filter(func(i int) int { return int(cumulated[dark[i]]) * 255 / (w * h) }), int32(w * h)}}),
		program("a box filter", launch{"box_filter", grid, block, 0, []any{bp, box, int32(w), int32(h), int32(2)}}),
		program("Sobel", on("sobel", bp, sobel)),
		program("a median filter", on("median", bp, median)),
		program("gray", launch{"gray", dim(11), dim(128), 0, []any{input(rgba), gray, int32(w * h)}}),
		program("one picture over another", launch{"blend", dim(11), dim(128), 0, []any{input(rgba), changed(under, blend), int32(w * h)}}),
		program("turned", on("rotate", input(rgb), out(rotated))),
		program("scaled", launch{"scale", dim(4, 3), block, 0, []any{bp, out(scaled), int32(w), int32(h), int32(w1), int32(h1)}}),
		program("dilated", on("extreme<true>", bp, extreme(slices.Max[[]int]))),
		program("eroded", on("extreme<false>", bp, extreme(slices.Min[[]int]))),
		program("an integral image", launch{"integral_rows", dim(1), dim(32), 0, append([]any{bp, bsum}, plane...)}, launch{"integral_columns", dim(1), dim(64), 0, append([]any{bsum}, plane...)}),
		program("the burning ship", on("burning_ship", input(view), out(ship))),
		program("cosines of blocks", launch{"cosines", dim(2, 2), dim(8, 8), 0, []any{input(blocks), out(dct), int32(16)}}).within(2e-4),
	}
}
