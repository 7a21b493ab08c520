package drivertest_test

import "gocuda/cudaapi/driver"

type (
	noBoxes     struct{ base }
	looseArrays struct{ base }
)

func init() {
	faults["boxes-are-not-copied"] = func(d machine) driver.Driver { return noBoxes{base{d}} }
	faults["arrays-not-checked"] = func(d machine) driver.Driver { return looseArrays{base{d}} }
}

func (noBoxes) Memcpy3D(_ driver.Context, p *driver.Copy3D) error {
	if p.Width == 0 {
		return &driver.Error{Code: driver.ErrInvalidValue, Call: "cuMemcpy3D"}
	}
	return nil
}

func (f noBoxes) Memcpy3DAsync(c driver.Context, p *driver.Copy3D, _ driver.Stream) error {
	return f.machine.Memcpy3DAsync(c, p, driver.StreamPerThread)
}

func (f looseArrays) ArrayCreate(c driver.Context, a *driver.ArrayDesc) (driver.Array, error) {
	h, _ := f.machine.ArrayCreate(c, a)
	return h, nil
}

func (looseArrays) ArrayDesc(driver.Context, driver.Array) (driver.ArrayDesc, error) {
	return driver.ArrayDesc{}, nil
}

func (f looseArrays) MemAllocPitch(c driver.Context, width, height uint64, _ uint32) (driver.Ptr, uint64, error) {
	p, err := f.MemAlloc(c, width*height)
	return p, width, err
}

func (f looseArrays) TexObjectCreate(c driver.Context, r *driver.Resource, d *driver.TextureDesc) (driver.TexObject, error) {
	t, _ := f.machine.TexObjectCreate(c, r, d)
	return t, nil
}

func (looseArrays) TexObjectResource(driver.Context, driver.TexObject) (driver.Resource, error) {
	return driver.Resource{}, nil
}

func (f looseArrays) SurfObjectCreate(c driver.Context, a driver.Array) (driver.SurfObject, error) {
	s, _ := f.machine.SurfObjectCreate(c, a)
	return s, nil
}
