package cuda

import (
	"slices"
	"sync"
	"weak"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
)

// modules are those that a program has.
type modules struct {
	mu   sync.Mutex
	list []weak.Pointer[Module]
}

// all gives those that are still in use.
func (l *modules) all() (list []*Module) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(p weak.Pointer[Module]) bool {
		m := p.Value()
		if m != nil {
			list = append(list, m)
		}
		return m == nil
	})
	return list
}

// preloader is the device's driver, if it has more to load than the program's kernels.
func (d *Device) preloader() driver.Preloader {
	if p, ok := d.drv().(driver.Preloader); ok && p.Preloads() {
		return p
	}
	return nil
}

// made notes a module that was compiled for d. Where the driver has more to load with it,
// all is loaded now, on d and on the devices in use: at a first launch, loading could wait
// for work that only the program's next statements let go on.
func (m *Module) made(d *Device) {
	m.device, m.library = d, callsite.Here().Library
	l := &m.sys.modules
	l.all() // drops those that are gone
	l.mu.Lock()
	l.list = append(l.list, weak.Make(m))
	l.mu.Unlock()
	for _, on := range m.sys.devices {
		if (on != d && on.ctx.Load() == 0) || on.preloader() == nil {
			continue
		}
		for _, k := range m.kernels {
			k.code.function(on) //nolint:errcheck // the launch will tell
		}
	}
}

// preload has all loaded that a new driver loads with the kernels that there are.
func (s *system) preload() {
	for _, d := range s.devices {
		c, p := d.ctx.Load(), d.preloader()
		if c == 0 || p == nil {
			continue
		}
		for _, m := range s.modules.all() {
			for _, k := range m.kernels {
				switch f := k.code.on[d.id].Load(); {
				case m.library:
				case f != nil && f.epoch == d.epoch.Load():
					p.Preload(driver.Context(c), f.origin)
				case m.device == d:
					k.code.function(d) //nolint:errcheck // as above
				}
			}
		}
	}
}
