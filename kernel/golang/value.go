package golang

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"time"
)

const (
	valueTime = time.Second // what a variable's own methods have to show it
	valueText = 60          // characters
	maxKeys   = 500
)

// Value shows the value of a variable in one line, cut where it is long. It is ""
// while a cell runs, and for what is no variable.
func (ev *Evaluator) Value(name string) string {
	if !ev.turn.TryLock() {
		return ""
	}
	defer ev.turn.Unlock()
	ev.mu.Lock()
	_, ok := ev.names[name].(*types.Var)
	ev.mu.Unlock()
	if !ok {
		return ""
	}
	stop := time.AfterFunc(valueTime, ev.Interrupt)
	defer stop.Stop()
	res := ev.eval("value", name, false)
	if res.Err != nil || res.Value == nil {
		return ""
	}
	text := []rune(strings.Join(strings.Fields(fmt.Sprint(res.Value.Data["text/plain"])), " "))
	if len(text) > valueText {
		text = append(text[:valueText-1], '…')
	}
	return string(text)
}

// keys lists the keys of a map with strings for keys, at most maxKeys, sorted. There
// are none while a cell runs.
func (ev *Evaluator) keys(name string) []string {
	stop := time.AfterFunc(valueTime, ev.Interrupt)
	defer stop.Stop()
	values, err := ev.Values("keys", fmt.Sprintf(
		"func() (l []string) { for k := range %s { if l = append(l, string(k)); len(l) == %d { break } }; return }()", name, maxKeys))
	if err != nil || len(values) != 1 {
		return nil
	}
	list, _ := values[0].([]string)
	slices.Sort(list)
	return list
}
