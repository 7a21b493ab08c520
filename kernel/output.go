package kernel

import (
	"sync"
	"time"

	"gocuda/kernel/outputs"
	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// updateInterval is how far apart updates are of what Output widgets have captured, while
// they go on: an update has all outputs of a widget.
const updateInterval = 50 * time.Millisecond

// captures are what Output widgets capture.
type captures struct {
	outputs.Captures
	mu       sync.Mutex // held while an output is taken and published: others come after it
	told     time.Time  // when front ends were told the last changes of the running cell
	interval time.Duration
	later    *time.Timer // tells what has changed; nil: it is not set
}

// output publishes what a cell shows, in the name of that cell where the output says
// which it is.
func (k *kernel) output(o session.Output) {
	parent, c := k.ofCell(o.Parent)
	if parent == nil {
		c = k.onlyCell()
	}
	count, silent := 0, false
	if c != nil {
		c.mu.Lock()
		parent, count, silent = c.parent, c.count, c.silent
		if o.Kind == session.Value {
			if text, ok := o.Bundle.Data["text/plain"].(string); ok {
				c.value = text
			}
		}
		c.mu.Unlock()
	}
	if (o.Kind == session.Stdout || o.Kind == session.Stderr) && !silent {
		k.pace.wait(o.Text)
	}
	message := ""
	if parent != nil {
		message = parent.Header.ID
	}

	k.captures.mu.Lock()
	defer k.captures.mu.Unlock()
	for _, o := range k.captures.Take(o, message, count) {
		switch {
		case o.Kind == session.ToComm:
			k.publishComm(parent, o.Comm)
		case o.Kind == session.Debug:
			k.publish("debug_event", parent, o.Event)
		case !silent:
			k.show(parent, count, o)
			k.kept.add(message, o, func(f *follower) { k.show(f.parent, count, o) })
		}
	}
	switch changed, goesOn := k.captures.Changed(); {
	case !changed:
	case !goesOn && time.Since(k.captures.told) >= k.captures.interval:
		k.tellCaptured()
	case k.captures.later == nil:
		k.tellLater()
	}
}

// tellLater has front ends told after the interval. The caller holds captures.mu.
func (k *kernel) tellLater() {
	k.captures.later = time.AfterFunc(k.captures.interval, func() {
		k.captures.mu.Lock()
		defer k.captures.mu.Unlock()
		if k.captures.later != nil { // nil: they were told while this waited for mu
			k.tellCaptured()
		}
	})
}

// tellCaptured tells front ends what Output widgets have captured. The caller holds
// captures.mu.
func (k *kernel) tellCaptured() {
	if k.captures.later != nil {
		k.captures.later.Stop()
		k.captures.later = nil
	}
	size := 0
	for _, o := range k.captures.Changes() {
		size += len(o.Comm.Data)
		k.publishComm(k.main.cell.asked(), o.Comm)
	}
	k.captures.told = time.Now()
	k.captures.interval = max(updateInterval, time.Duration(size)*paceWindow/paceBytes)
}

// endCaptured tells front ends what Output widgets have captured of a cell that ends, and
// what the next one captures at once.
func (k *kernel) endCaptured() {
	k.captures.mu.Lock()
	defer k.captures.mu.Unlock()
	k.tellCaptured()
	k.captures.told = time.Time{}
}

// show publishes an output that nothing captures.
func (k *kernel) show(parent *wire.Message, count int, o session.Output) {
	var err error
	bundle := map[string]any{"data": object(o.Bundle.Data), "metadata": object(o.Bundle.Metadata)}
	if id := o.Bundle.DisplayID; id != "" {
		bundle["transient"] = map[string]string{"display_id": id}
	} else {
		bundle["transient"] = object(nil)
	}
	switch o.Kind {
	case session.Stdout, session.Stderr:
		err = k.publish("stream", parent, map[string]string{"name": string(o.Kind), "text": o.Text})
	case session.Value:
		bundle["execution_count"] = count
		err = k.publish("execute_result", parent, bundle)
	case session.Display:
		err = k.publish("display_data", parent, bundle)
	case session.Update:
		err = k.publish("update_display_data", parent, bundle)
	case session.Clear:
		err = k.publish("clear_output", parent, map[string]bool{"wait": o.Wait})
	default:
		k.log.Error("unknown kind of output", "kind", o.Kind)
	}
	if err != nil { // such as a NaN in JSON data
		k.publish("stream", parent, map[string]string{
			"name": "stderr", "text": "an output could not be shown: " + err.Error() + "\n"})
	}
}
