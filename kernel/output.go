package kernel

import (
	"gocuda/kernel/session"
)

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
	if o.Kind == session.ToComm {
		if err := k.publishComm(parent, o.Comm); err != nil {
			k.log.Warn("cannot publish", "error", err)
		}
		return
	}
	if o.Kind == session.Debug {
		k.publish("debug_event", parent, o.Event)
		return
	}
	if silent {
		return
	}

	var err error
	bundle := map[string]any{"data": object(o.Bundle.Data), "metadata": object(o.Bundle.Metadata)}
	if id := o.Bundle.DisplayID; id != "" {
		bundle["transient"] = map[string]string{"display_id": id}
	} else {
		bundle["transient"] = object(nil)
	}
	switch o.Kind {
	case session.Stdout, session.Stderr:
		k.pace.wait(o.Text)
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
