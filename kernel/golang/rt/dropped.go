package rt

import "fmt"

// drop is a place where the goroutines of a cell dropped an error.
type drop struct {
	cell *Group
	fun  *Func
	pos  int
}

// dropped tells, once for each place and cell, of an error that a call in a
// function returned and nothing looks at. The program goes on, as in Go.
func (r *Runtime) dropped(err error) {
	for _, p := range r.places(ownStack()) {
		if p.fun == nil {
			continue
		}
		if _, told := r.drops.LoadOrStore(drop{r.group(), p.fun, p.pos}, true); !told {
			fmt.Fprintf(r.stderr(), "%s:%d:%d: %s drops an error: %v\n", p.fun.File, p.pos>>12, p.pos&(1<<12-1), p.known().Function, err)
		}
		return
	}
}
