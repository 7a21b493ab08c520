package golang

import (
	"fmt"
	"strings"

	"gocuda/kernel/display"
)

// bundleOf shows the values of a cell's last expression together.
func bundleOf(values []any) *display.Bundle {
	if len(values) == 1 {
		b := display.Of(values[0])
		if len(b.Data) == 0 {
			return nil
		}
		return &b
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(display.Of(v).Data["text/plain"])
	}
	return &display.Bundle{Data: map[string]any{"text/plain": strings.Join(texts, ", ")}}
}

// Expression evaluates one expression and returns what it shows.
func (ev *Evaluator) Expression(code string) (*display.Bundle, *Error) {
	res := ev.Eval("expression", code, false)
	if res.Err != nil {
		return nil, res.Err
	}
	if res.Value == nil {
		return &display.Bundle{Data: map[string]any{"text/plain": ""}}, nil
	}
	return res.Value, nil
}
