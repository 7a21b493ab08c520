package corpus

import (
	"math"
	"slices"
)

// physics are the cases of physics.cu.
func physics() []kernelCase {
	const n = 100
	unit := func(i int) float64 { return float64(mix(uint32(i))) / (1 << 32) }
	bodies := fill(4*n, unit)
	forces := fill(3*n, func(k int) (f float64) {
		me := bodies[k/3*4:]
		for o := bodies; len(o) > 0; o = o[4:] {
			dx, dy, dz := o[0]-me[0], o[1]-me[1], o[2]-me[2]
			r := dx*dx + dy*dy + dz*dz + 0.01
			f += o[3] / (r * math.Sqrt(r)) * []float64{dx, dy, dz}[k%3]
		}
		return f
	})
	const side = 5
	type point struct{ x, y float64 }
	cell := func(p point) int { return int(p.y*side)*side + int(p.x*side) }
	points := fill(n, func(i int) point { return point{unit(2*i + 1000), unit(2*i + 1001)} })
	slices.SortStableFunc(points, func(a, b point) int { return cell(a) - cell(b) })
	start := make([]int32, side*side+1)
	for _, p := range points {
		for c := cell(p) + 1; c < len(start); c++ {
			start[c]++
		}
	}
	var at, pushed []float64
	for i, p := range points {
		at = append(at, p.x, p.y)
		var f point
		for k, q := range points {
			dx, dy := p.x-q.x, p.y-q.y
			dx -= math.RoundToEven(dx)
			dy -= math.RoundToEven(dy)
			if r2 := dx*dx + dy*dy; k != i && r2 <= 0.04 {
				s2 := 0.0004 / (r2 + 0.0001)
				s6 := s2 * s2 * s2
				f.x += s6 * (2*s6 - 1) * dx
				f.y += s6 * (2*s6 - 1) * dy
			}
		}
		pushed = append(pushed, f.x, f.y)
	}
	const size, steps = 10_000, 50
	particles := fill(4*n, func(i int) int32 { return int32(mix(uint32(i)) % 400) })
	moved := slices.Clone(particles)
	for p := moved; len(p) > 0; p = p[4:] {
		for range steps {
			p[3] -= 3
			p[0] += p[2]
			p[1] += p[3]
			if p[0] < 0 || p[0] > size {
				p[0], p[2] = max(-p[0], min(p[0], 2*size-p[0])), -p[2]
			}
			if p[1] < 0 {
				p[1], p[3] = -p[1], -p[3]
			}
		}
	}
	const w, h = 19, 13
	grid, block := dim(3, 2), dim(8, 8)
	gas := fill(9*w*h, func(i int) float64 { return 0.1 + unit(i)/50 })
	dx, dy := [9]int{0, 1, 0, -1, 0, 1, -1, -1, 1}, [9]int{0, 0, 1, 0, -1, 1, 1, -1, -1}
	flown := make([]float64, len(gas))
	for i := range w * h {
		var v [9]float64
		var rho, ux, uy float64
		for k := range v {
			v[k] = gas[k*w*h+(i/w-dy[k]+h)%h*w+(i%w-dx[k]+w)%w]
			rho += v[k]
			ux += float64(dx[k]) * v[k]
			uy += float64(dy[k]) * v[k]
		}
		ux, uy = ux/rho, uy/rho
		for k := range v {
			weight, c := 1.0/36, 3*(float64(dx[k])*ux+float64(dy[k])*uy)
			if k < 5 {
				weight = 1.0 / 9
			}
			if k == 0 {
				weight = 4.0 / 9
			}
			flown[k*w*h+i] = v[k] + 0.8*(weight*rho*(1+c+c*c/2-1.5*(ux*ux+uy*uy))-v[k])
		}
	}
	fields := [3][]float64{}
	var bfields [3]*buffer
	for k := range fields {
		fields[k] = fill(w*h, func(i int) float64 { return unit(i + 5000*k) })
		bfields[k] = input(slices.Clone(fields[k]))
		bfields[k].want = fields[k]
	}
	ex, ey, hz := fields[0], fields[1], fields[2]
	var fdtd []launch
	for range 3 {
		for i := range hz {
			if i >= w {
				ex[i] += float64(0.5 * (hz[i] - hz[i-w]))
			}
			if i%w > 0 {
				ey[i] -= float64(0.5 * (hz[i] - hz[i-1]))
			}
		}
		for i := range hz {
			if i%w < w-1 && i/w < h-1 {
				hz[i] += float64(0.7 * ((ex[i+w] - ex[i]) + (ey[i] - ey[i+1])))
			}
		}
		for _, kernel := range []string{"electric", "magnetic"} {
			fdtd = append(fdtd, launch{kernel, grid, block, 0, []any{bfields[0], bfields[1], bfields[2], int32(w), int32(h)}})
		}
	}
	starts := fill(3*64, func(i int) float64 { return 1 + unit(i)*10 })
	ends := slices.Clone(starts)
	slope := func(p [3]float64) [3]float64 {
		return [3]float64{10 * (p[1] - p[0]), p[0]*(28-p[2]) - p[1], p[0]*p[1] - 8.0/3*p[2]}
	}
	plus := func(p, q [3]float64, f float64) [3]float64 {
		return [3]float64{p[0] + f*q[0], p[1] + f*q[1], p[2] + f*q[2]}
	}
	for q := ends; len(q) > 0; q = q[3:] {
		p, d := [3]float64(q), 0.005
		for range 20 {
			a := slope(p)
			b := slope(plus(p, a, d/2))
			c := slope(plus(p, b, d/2))
			e := slope(plus(p, c, d))
			p = plus(p, plus(plus(plus(a, b, 2), c, 2), e, 1), d/6)
		}
		copy(q, p[:])
	}
	return []kernelCase{
		program("gravity", launch{"gravity", dim(4), dim(32), 0, []any{input(bodies), out(forces), int32(n)}}).within(1e-12),
		program("Lennard and Jones, with cells", launch{"lennard_jones", dim(2), dim(64), 0, []any{input(at), input(start), out(pushed), int32(side), int32(n)}}).within(1e-10),
		program("particles that bounce", launch{"bounce", dim(2), dim(64), 0, []any{changed(particles, moved), int32(n), int32(size), int32(steps)}}),
		program("lattice Boltzmann", launch{"lattice", grid, block, 0, []any{input(gas), out(flown), int32(w), int32(h)}}).within(1e-13),
		program("three steps of a field", fdtd...),
		program("Lorenz", launch{"lorenz", dim(2), dim(32), 0, []any{changed(starts, ends), int32(20)}}).within(1e-11),
	}
}
