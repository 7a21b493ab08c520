package assist

import "gocuda/kernel/display"

func Inspect(scope Scope, code string, cursor, detail int) *display.Bundle { return nil }
