package display

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/google/uuid"
)

// Publication is one thing that a program shows: a new output, a change of one
// that was shown before, or the wish that the outputs so far be cleared.
type Publication struct {
	// Bundle is what to show. Its DisplayID, where set, names it for updates.
	Bundle Bundle
	// Update says that Bundle replaces every output shown under its DisplayID.
	Update bool
	// Clear says that the outputs of the cell be removed; Bundle is empty.
	Clear bool
	// Wait, with Clear, delays the removal until the next output comes, so
	// that what replaces it appears without flicker.
	Wait bool
}

var publisher struct {
	sync.Mutex
	publish func(Publication)
	out     io.Writer // where plain text goes without a publisher; nil: os.Stdout
}

// SetPublisher makes f receive what is shown from now on, and nil undoes it.
// f is called by one goroutine at a time, in the order of the calls that show,
// and must not itself call functions of this package that show.
// Without a publisher, text goes to the standard output.
func SetPublisher(f func(Publication)) {
	publisher.Lock()
	defer publisher.Unlock()
	publisher.publish = f
}

func publish(p Publication) {
	publisher.Lock()
	defer publisher.Unlock()
	if publisher.publish != nil {
		publisher.publish(p)
		return
	}
	if p.Clear {
		return
	}
	out := publisher.out
	if out == nil {
		out = os.Stdout
	}
	fmt.Fprintln(out, p.Bundle.text())
}

func published() bool {
	publisher.Lock()
	defer publisher.Unlock()
	return publisher.publish != nil
}

// Show shows each value as Of makes it. The handle is that of the last one.
func Show(values ...any) (last Handle) {
	for i, v := range values {
		b := Of(v)
		if len(b.Data) == 0 {
			continue
		}
		if i == len(values)-1 && b.DisplayID == "" {
			b.DisplayID = uuid.NewString()
		}
		last = Handle{b.DisplayID}
		publish(Publication{Bundle: b})
	}
	return last
}

// Handle is an output that can be changed after it was shown.
type Handle struct{ id string }

// ShowAs shows v under an id, by which Update, or the handle, replaces it
// later, also from another cell. An empty id stands for a fresh one.
func ShowAs(id string, v any) Handle {
	if id == "" {
		id = uuid.NewString()
	}
	b := Of(v)
	b.DisplayID = id
	publish(Publication{Bundle: b})
	return Handle{id}
}

// Update replaces what was shown under id, wherever it stands, by v.
func Update(id string, v any) {
	b := Of(v)
	b.DisplayID = id
	publish(Publication{Bundle: b, Update: true})
}

// MIMEBundle is empty: what the handle stands for is shown already.
func (h Handle) MIMEBundle() map[string]any { return map[string]any{} }

// ID returns the id that the output was shown under.
func (h Handle) ID() string { return h.id }

// Update replaces the output by v. The handle of nothing does nothing.
func (h Handle) Update(v any) {
	if h.id != "" {
		Update(h.id, v)
	}
}

// Clear removes the outputs that the cell has shown so far: at once, or, with
// wait, when its next output comes.
func Clear(wait bool) { publish(Publication{Clear: true, Wait: wait}) }
