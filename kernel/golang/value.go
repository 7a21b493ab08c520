package golang

import (
	"fmt"
	"go/types"
	"strings"
	"time"
)

const (
	valueTime = time.Second // what a variable's own methods have to show it
	valueText = 60          // characters
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
