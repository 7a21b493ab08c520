package main

import "fmt"

// What stands as a condition: each in if, for, switch and between operators.

type flag bool

type flags struct{ on, off bool }

func (f flags) isOn() bool   { return f.on }
func (f *flags) isOff() bool { return f.off }

func say(n int, b bool) bool { fmt.Print(" ", n); return b }

func send(b bool) chan bool {
	c := make(chan bool, 1)
	c <- b
	return c
}

func id[T any](x T) T { return x }

func main() {
	t, f := true, false
	pt, pf := &t, &f
	named, none := flag(true), flag(false)
	st, ps := flags{on: true}, &flags{on: true}
	list, arr := []bool{true, false}, [2]bool{true, false}
	m := map[string]bool{"t": true}
	var yes, no any = true, false
	for name, cond := range map[string]func() [5]bool{
		"assert": func() [5]bool {
			var r [5]bool
			if no.(bool) {
				r[0] = true
			}
			if !yes.(bool) {
				r[1] = true
			}
			if any(f).(bool) || no.(bool) {
				r[2] = true
			}
			for yes.(bool) && no.(bool) {
				r[3] = true
				break
			}
			switch {
			case no.(bool), any(none).(flag) == true:
				r[4] = true
			}
			return r
		},
	} {
		fmt.Println(name, cond())
	}
	if any(f).(bool) {
		fmt.Println("wrong")
	} else {
		fmt.Println("else")
	}
	for any(t).(bool) && !any(f).(bool) {
		fmt.Println("loop")
		break
	}
	for k := 0; any(k < 2).(bool); k++ {
		fmt.Println("turn", k)
	}
	fmt.Println(no.(bool) && say(1, true), yes.(bool) || say(2, true), say(3, true) && no.(bool), !no.(bool) && yes.(bool))
	if no.(bool) || any(f).(bool) && say(4, true) {
		fmt.Println("wrong")
	}
	switch {
	case no.(bool):
		fmt.Println("wrong")
	case any(none).(flag) == none && yes.(bool):
		fmt.Println("case")
		fallthrough
	case say(5, true):
		fmt.Println("fell")
	}
	switch true {
	case no.(bool), any(f).(bool):
		fmt.Println("wrong")
	case yes.(bool):
		fmt.Println("true")
	}
	if v, ok := no.(bool); ok && v {
		fmt.Println("wrong")
	}
	if bool(named) && !bool(none) && *pt && !*pf && st.on && !ps.off && st.isOn() && !ps.isOff() && list[0] && !arr[1] && m["t"] && !m["f"] {
		fmt.Println("all")
	}
	if <-send(f) || id(f) || bool(id(none)) || list[1] || m["x"] || (func() bool { return f })() {
		fmt.Println("wrong")
	}
	func() {
		defer func() { fmt.Println(recover().(error).Error()) }()
		if any(1).(bool) {
			fmt.Println("wrong")
		}
	}()
}
