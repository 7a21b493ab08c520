package drivertest

import (
	"bytes"
	"fmt"
	"runtime"

	"gocuda/cudaapi/driver"
)

// array makes an array that is destroyed with the case.
func (e *env) array(a driver.ArrayDesc) driver.Array {
	e.Helper()
	h, err := e.d.ArrayCreate(e.ctx[0], &a)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.ArrayDestroy(e.ctx[0], h) })
	return h
}

// rowsOf is memory whose rows are pitch bytes apart, slices rows apart.
func rowsOf(p driver.Ptr, pitch, rows uint64) driver.Place3D {
	return driver.Place3D{Ptr: p, Pitch: pitch, Rows: rows}
}

// tight is memory in which all of an array's elements follow each other.
func tight(p driver.Ptr, a *driver.ArrayDesc) driver.Place3D {
	return rowsOf(p, a.Width*a.Element(), max(a.Height, 1))
}

// whole copies all of an array.
func whole(a *driver.ArrayDesc, dst, src driver.Place3D) *driver.Copy3D {
	return &driver.Copy3D{Dst: dst, Src: src, Width: a.Width * a.Element(), Height: max(a.Height, 1), Depth: max(a.Depth, 1)}
}

// filled makes an array with contents.
func (e *env) filled(a driver.ArrayDesc, data []byte) driver.Array {
	e.Helper()
	h := e.array(a)
	e.ok(e.d.Memcpy3D(e.ctx[0], whole(&a, driver.Place3D{Array: h}, tight(address(data), &a))))
	e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
	runtime.KeepAlive(data)
	return h
}

// contents are an array's elements.
func (e *env) contents(h driver.Array, a driver.ArrayDesc) []byte {
	e.Helper()
	out := make([]byte, a.Bytes())
	e.ok(e.d.Memcpy3D(e.ctx[0], whole(&a, tight(address(out), &a), driver.Place3D{Array: h})))
	runtime.KeepAlive(out)
	return out
}

func (e *env) equal(what string, got, want []byte) {
	e.Helper()
	if !bytes.Equal(got, want) {
		e.Errorf("%s:\ngot  %x\nwant %x", what, got[:min(len(got), 64)], want[:min(len(want), 64)])
	}
}

var formats = []driver.ArrayFormat{driver.FormatUint8, driver.FormatUint16, driver.FormatUint32, driver.FormatInt8, driver.FormatInt16, driver.FormatInt32, driver.FormatHalf, driver.FormatFloat}

var arrayTests = []test{
	{name: "what was copied to an array comes back, of every format", run: func(e *env) {
		for _, f := range formats {
			for _, channels := range []uint32{1, 2, 4} {
				a := driver.ArrayDesc{Width: 37, Format: f, Channels: channels}
				data := noise(int(a.Bytes()))
				e.equal(fmt.Sprint(f, " ", channels), e.contents(e.filled(a, data), a), data)
			}
		}
	}},
	{name: "arrays of two and three dimensions, layers and cubes", run: func(e *env) {
		for _, a := range []driver.ArrayDesc{
			{Width: 33, Height: 7, Format: driver.FormatFloat, Channels: 1},
			{Width: 5, Height: 3, Depth: 4, Format: driver.FormatUint8, Channels: 4},
			{Width: 21, Depth: 3, Format: driver.FormatInt16, Channels: 2, Flags: driver.ArrayLayered},
			{Width: 9, Height: 6, Depth: 5, Format: driver.FormatHalf, Channels: 1, Flags: driver.ArrayLayered},
			{Width: 4, Height: 4, Depth: 6, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArrayCube},
			{Width: 4, Height: 4, Depth: 12, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArrayCube | driver.ArrayLayered},
		} {
			data := noise(int(a.Bytes()))
			e.equal(fmt.Sprintf("%+v", a), e.contents(e.filled(a, data), a), data)
		}
	}},
	{name: "an array tells its description", run: func(e *env) {
		for _, a := range []driver.ArrayDesc{
			{Width: 33, Format: driver.FormatFloat, Channels: 1},
			{Width: 33, Height: 7, Format: driver.FormatUint16, Channels: 2, Flags: driver.ArraySurface},
			{Width: 5, Height: 3, Depth: 4, Format: driver.FormatUint8, Channels: 4},
			{Width: 9, Height: 6, Depth: 5, Format: driver.FormatHalf, Channels: 1, Flags: driver.ArrayLayered},
		} {
			got, err := e.d.ArrayDesc(e.ctx[0], e.array(a))
			e.ok(err)
			if got != a {
				e.Errorf("got %+v, want %+v", got, a)
			}
		}
	}},
	{name: "descriptions of no array are invalid values", run: func(e *env) {
		for _, a := range []driver.ArrayDesc{
			{Format: driver.FormatFloat, Channels: 1},
			{Width: 8, Format: driver.FormatFloat, Channels: 3},
			{Width: 8, Format: driver.FormatFloat},
			{Width: 8, Format: 0x77, Channels: 1},
			{Width: 8, Height: 4, Depth: 6, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArrayCube},
			{Width: 8, Height: 8, Depth: 5, Format: driver.FormatFloat, Channels: 1, Flags: driver.ArrayCube},
			{Width: 1 << 30, Format: driver.FormatFloat, Channels: 1},
		} {
			h, err := e.d.ArrayCreate(e.ctx[0], &a)
			if e.code(err, driver.ErrInvalidValue); err == nil {
				_ = e.d.ArrayDestroy(e.ctx[0], h)
				e.Errorf("%+v", a)
			}
		}
	}},
	{name: "a part of an array is copied, and no more", run: func(e *env) {
		a := driver.ArrayDesc{Width: 16, Height: 8, Depth: 4, Format: driver.FormatUint8, Channels: 1}
		before, part := bytes.Repeat([]byte{0xee}, 16*8*4), noise(5*3*2)
		h := e.filled(a, before)
		e.ok(e.d.Memcpy3D(e.ctx[0], &driver.Copy3D{Dst: driver.Place3D{Array: h, X: 4, Y: 2, Z: 1}, Src: rowsOf(address(part), 5, 3), Width: 5, Height: 3, Depth: 2}))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		for z := range 2 {
			for y := range 3 {
				copy(before[(z+1)*128+(y+2)*16+4:], part[z*15+y*5:][:5])
			}
		}
		e.equal("the array", e.contents(h, a), before)
		runtime.KeepAlive(part)
	}},
	{name: "a part of an array comes back", run: func(e *env) {
		a := driver.ArrayDesc{Width: 8, Height: 4, Format: driver.FormatInt32, Channels: 1}
		data, out := noise(8*4*4), make([]byte, 3*4*2)
		h := e.filled(a, data)
		e.ok(e.d.Memcpy3D(e.ctx[0], &driver.Copy3D{Dst: rowsOf(address(out), 12, 2), Src: driver.Place3D{Array: h, X: 8, Y: 1}, Width: 12, Height: 2, Depth: 1}))
		e.equal("the part", out, append(bytes.Clone(data[40:52]), data[72:84]...))
	}},
	{name: "device memory with pitches to an array and back", run: func(e *env) {
		const pitch, rows = 64, 5
		a := driver.ArrayDesc{Width: 9, Height: 4, Depth: 3, Format: driver.FormatFloat, Channels: 1}
		data := noise(pitch * rows * 3)
		src, dst := e.alloc(0, pitch*rows*3, 0), e.alloc(0, pitch*rows*3, 0xee)
		e.write(0, src, data)
		h := e.array(a)
		e.ok(e.d.Memcpy3D(e.ctx[0], whole(&a, driver.Place3D{Array: h}, rowsOf(src, pitch, rows))))
		e.ok(e.d.Memcpy3D(e.ctx[0], whole(&a, rowsOf(dst, pitch, rows), driver.Place3D{Array: h})))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		want := bytes.Repeat([]byte{0xee}, pitch*rows*3)
		for z := range 3 {
			for y := range 4 {
				at := (z*rows + y) * pitch
				copy(want[at:at+36], data[at:])
			}
		}
		e.equal("the copy", e.read(0, dst, pitch*rows*3), want)
	}},
	{name: "from array to array", run: func(e *env) {
		a := driver.ArrayDesc{Width: 9, Height: 4, Format: driver.FormatUint16, Channels: 2}
		data := noise(int(a.Bytes()))
		from, to := e.filled(a, data), e.array(a)
		e.ok(e.d.Memcpy3D(e.ctx[0], whole(&a, driver.Place3D{Array: to}, driver.Place3D{Array: from})))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		e.equal("the copy", e.contents(to, a), data)
	}},
	{name: "a 3-D copy of memory keeps to pitches and slices", run: func(e *env) {
		src, dst := e.alloc(0, 4096, 0), e.alloc(0, 4096, 0xee)
		data := noise(4096)
		e.write(0, src, data)
		from, to := rowsOf(src, 32, 6), rowsOf(dst, 48, 4)
		from.X, from.Y, from.Z = 3, 2, 1
		to.X, to.Y, to.Z = 5, 1, 2
		e.ok(e.d.Memcpy3D(e.ctx[0], &driver.Copy3D{Dst: to, Src: from, Width: 7, Height: 3, Depth: 2}))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		want := bytes.Repeat([]byte{0xee}, 4096)
		for z := range 2 {
			for y := range 3 {
				at := ((z+1)*6+y+2)*32 + 3
				copy(want[((z+2)*4+y+1)*48+5:], data[at:at+7])
			}
		}
		e.equal("the copy", e.read(0, dst, 4096), want)
	}},
	{name: "asynchronous copies of arrays keep to their stream", run: func(e *env) {
		a := driver.ArrayDesc{Width: 64, Height: 32, Format: driver.FormatFloat, Channels: 1}
		s := e.stream(0, driver.StreamNonBlocking)
		h := e.array(a)
		in, inBytes := e.pinned(a.Bytes(), 0)
		dst := e.alloc(0, a.Bytes(), 0xee)
		copy(inBytes, noise(int(a.Bytes())))
		g := e.hold(0, s)
		e.ok(e.d.Memcpy3DAsync(e.ctx[0], whole(&a, driver.Place3D{Array: h}, tight(in, &a)), s))
		e.ok(e.d.Memcpy3DAsync(e.ctx[0], whole(&a, tight(dst, &a), driver.Place3D{Array: h}), s))
		e.before(0, dst, a.Bytes(), 0xee)
		g.release()
		e.sync(0, s)
		e.equal("the copy", e.read(0, dst, a.Bytes()), inBytes)
	}},
	{name: "a copy past an array is an invalid value", run: func(e *env) {
		a := driver.ArrayDesc{Width: 8, Height: 8, Format: driver.FormatFloat, Channels: 1}
		h, data := e.array(a), make([]byte, 1<<12)
		at := driver.Place3D{Array: h}
		e.code(e.d.Memcpy3D(e.ctx[0], &driver.Copy3D{Dst: at, Src: rowsOf(address(data), 36, 8), Width: 36, Height: 8, Depth: 1}), driver.ErrInvalidValue)
		e.code(e.d.Memcpy3D(e.ctx[0], &driver.Copy3D{Dst: at, Src: rowsOf(address(data), 32, 9), Width: 32, Height: 9, Depth: 1}), driver.ErrInvalidValue)
		at.Y = 1
		e.code(e.d.Memcpy3D(e.ctx[0], &driver.Copy3D{Dst: at, Src: rowsOf(address(data), 32, 8), Width: 32, Height: 8, Depth: 1}), driver.ErrInvalidValue)
		runtime.KeepAlive(data)
	}},
	{name: "a pitch that rows do not fit is an invalid value", run: func(e *env) {
		a := driver.ArrayDesc{Width: 8, Height: 8, Format: driver.FormatFloat, Channels: 1}
		h, p := e.array(a), e.alloc(0, 4096, 0)
		e.code(e.d.Memcpy3D(e.ctx[0], whole(&a, driver.Place3D{Array: h}, rowsOf(p, 16, 8))), driver.ErrInvalidValue)
	}},
	{name: "a 3-D copy of nothing is no work", run: func(e *env) {
		p := e.alloc(0, 64, 5)
		e.ok(e.d.Memcpy3D(e.ctx[0], &driver.Copy3D{Dst: rowsOf(p, 8, 2), Src: rowsOf(p+32, 8, 2), Width: 0, Height: 2, Depth: 2}))
		e.all(0, p, 64, 5)
	}},
	{name: "rows of cuMemAllocPitch are apart as textures ask", run: func(e *env) {
		align, err := e.d.DeviceAttribute(driver.TexturePitchAlignment, 0)
		e.ok(err)
		p, pitch, err := e.d.MemAllocPitch(e.ctx[0], 100, 5, 4)
		e.ok(err)
		defer e.d.MemFree(e.ctx[0], p)
		if pitch < 100 || pitch%uint64(align) != 0 {
			e.Errorf("a pitch of %d bytes, which is no multiple of %d", pitch, align)
		}
		e.ok(e.d.Memset2DAsync(e.ctx[0], p, pitch, 7, 1, 100, 5, driver.StreamDefault))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		e.all(0, p+driver.Ptr(4*pitch), 100, 7)
		_, _, err = e.d.MemAllocPitch(e.ctx[0], 100, 5, 3)
		e.code(err, driver.ErrInvalidValue)
	}},
	{name: "an array in a graph", run: func(e *env) {
		g, ok := e.d.(driver.Graphs)
		if !ok {
			e.Skip("no graphs")
		}
		a := driver.ArrayDesc{Width: 16, Height: 4, Format: driver.FormatUint8, Channels: 1}
		s, h, data := e.stream(0, driver.StreamNonBlocking), e.array(a), noise(64)
		src, dst := e.alloc(0, 64, 0), e.alloc(0, 64, 0)
		e.write(0, src, data)
		e.ok(g.StreamBeginCapture(e.ctx[0], s))
		e.ok(e.d.Memcpy3DAsync(e.ctx[0], whole(&a, driver.Place3D{Array: h}, tight(src, &a)), s))
		e.ok(e.d.Memcpy3DAsync(e.ctx[0], whole(&a, tight(dst, &a), driver.Place3D{Array: h}), s))
		made, err := g.StreamEndCapture(e.ctx[0], s)
		e.ok(err)
		defer g.GraphDestroy(e.ctx[0], made)
		x, err := g.GraphInstantiate(e.ctx[0], made)
		e.ok(err)
		defer g.GraphExecDestroy(e.ctx[0], x)
		e.ok(g.GraphLaunch(e.ctx[0], x, s))
		e.sync(0, s)
		e.equal("the copy", e.read(0, dst, 64), data)
	}},
}
