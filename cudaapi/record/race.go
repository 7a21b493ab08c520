package record

import "gocuda/cudaapi/driver"

// Race is what threads of a kernel did that nothing orders.
type Race struct {
	driver.Race
	Kernel *Op // the launch in which it was found first
}

// raced notes the races of a launch. Those of two lines are one, however often it is launched.
func (r *Recorder) raced(o *Op, list []driver.Race) {
	if o.Meant {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
next:
	for _, x := range list {
		for _, had := range r.races {
			if had.Race.Kernel == x.Kernel && had.Source == x.Source && had.First.Line == x.First.Line && had.Second.Line == x.Second.Line {
				had.Count += x.Count
				continue next
			}
		}
		r.races = append(r.races, &Race{x, o})
	}
}

// Races are those that were found since [Recorder.ForgetRaces].
func (r *Recorder) Races() (list []Race) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.races {
		list = append(list, *x)
	}
	return list
}

// ForgetRaces drops them.
func (r *Recorder) ForgetRaces() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.races = nil
}
