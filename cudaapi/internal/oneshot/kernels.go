package oneshot

import (
	_ "embed"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/operators"
)

//go:embed oneshot.cu
var source string

// kernels are the reductions of one type on one device, or why there are none.
type kernels struct {
	ll, simple *cuda.Kernel
	why        error
}

type kernelsKey struct {
	d *cuda.Device
	t cuda.Type
}

var ready struct {
	sync.Mutex
	made map[kernelsKey]*kernels
}

// Ready compiles and loads what reductions of a type need on a device, if that
// was not done. It may wait for the device, which launches later do not.
func Ready(d *cuda.Device, t cuda.Type) error {
	_, err := kernelsOf(d, t)
	return err
}

func kernelsOf(d *cuda.Device, t cuda.Type) (*kernels, error) {
	ready.Lock()
	defer ready.Unlock()
	key := kernelsKey{d, t}
	k := ready.made[key]
	if k == nil {
		k = &kernels{}
		k.why = k.make(d, t)
		if ready.made == nil {
			ready.made = map[kernelsKey]*kernels{}
		}
		ready.made[key] = k
	}
	return k, k.why
}

func (k *kernels) make(d *cuda.Device, t cuda.Type) error {
	of := "<" + operators.TypeNames[t.String()] + ">"
	m, err := cuda.Compile(operators.Source+source, cuda.SourceName("oneshot.cu"), cuda.ForDevice(d), cuda.Instantiate("llReduce"+of, "simpleReduce"+of))
	if err != nil {
		return err
	}
	for name, to := range map[string]**cuda.Kernel{"llReduce": &k.ll, "simpleReduce": &k.simple} {
		if *to, err = m.Kernel(name + of); err != nil {
			return err
		}
		if _, err := (*to).Attribute(d, driver.FuncRegisters); err != nil { // loads it
			return err
		}
	}
	return nil
}
