package gokernel

import (
	"regexp"
	"strings"
	"testing"
)

// Each target has a sentence for each refusal, with the same things said besides.
func TestSentences(t *testing.T) {
	verbs := regexp.MustCompile(`%[a-zA-Z]`)
	for what := goroutines; what <= allocated; what++ {
		d, h := device{}.sentence(what), host{}.sentence(what)
		if d == "" || h == "" {
			t.Errorf("refusal %d: %q, %q", what, d, h)
		}
		if a, b := strings.Join(verbs.FindAllString(d, -1), " "), strings.Join(verbs.FindAllString(h, -1), " "); a != b {
			t.Errorf("%q has %s, %q has %s", d, a, h, b)
		}
	}
	if len(deviceSentences) != len(hostSentences) || len(deviceSentences) != int(allocated)+1 {
		t.Errorf("%d and %d sentences for %d refusals", len(deviceSentences), len(hostSentences), allocated+1)
	}
}

// What is refused, by a kernel and by code for the host. The user's own names are not changed.
func TestRefusals(t *testing.T) {
	for body, want := range map[string][2]string{
		"go f()":                                         {"there are no goroutines in a kernel: its threads run in parallel already", "compiled code starts no goroutines"},
		"defer f()":                                      {"defer cannot be used in a kernel", "compiled code has no defer"},
		"select {\n}":                                    {"there are no channels in a kernel; threads share memory", "compiled code has no channels"},
		"var a_device chan int\n_ = a_device":            {"a variable of type chan int cannot be in a kernel: there are no channels; threads", "a variable of type chan int cannot be in compiled code: its functions have no channels"},
		"var s struct{ a any }\n_ = s":                   {"which holds any, cannot be in a kernel: there are no interfaces", ""},
		"var a, b any\n_ = a == b":                       {"a variable of type any cannot be in a kernel", ""},
		"var a any = [1]*int{}\n_ = a":                   {"a variable of type any cannot be in a kernel", "compiled code makes no interface of a struct or array"},
		"n, a := 1, any(nil)\na = n\n_ = a":              {"type any cannot be in a kernel", ""},
		"var a any\n_ = a.([1]*int)":                     {"a variable of type any cannot be in a kernel", "compiled code takes no struct or array"},
		"var s struct{ f func(func()) }\ns.f(func() {})": {"functions can be called, and given to other functions as arguments, but not kept", "compiled code gives no function to a method"},
		"var s struct{ c chan int }\n_ = s.c":            {"there are no channels", "a field of type chan int cannot be in compiled code"},
		"var e error\n_ = e.Error()":                     {"there are no interfaces", ""},
		"recover()":                                      {"recover cannot be used in a kernel: a panic ends the thread", "recover cannot be used in compiled code"},
		"for range func(yield func(int) bool) {} {\n}\nvar m map[any]int\n_ = m": {"there are no maps", "the keys of its maps are numbers"},
		"fs := [1]func(){}\nfs[0]()":        {"functions can be called, and given to other functions as arguments, but not kept", "functions can be called, and given to other functions as arguments, but not kept"},
		"fn := func() {}\nfn = nil\n_ = fn": {"a kernel's function variable keeps its first value", "a function variable of compiled code keeps its first value"},
		"for range (chan int)(nil) {\n}":    {"there are no channels", "its functions have no channels"},
		"f()":                               {"f calls itself: the stack that it needs on a device cannot be known", ""},
	} {
		source := "package main\n\nfunc f() {\n" + body + "\n}\n"
		_, onDevice := Compile(source, Options{})
		_, onHost := compiledForHost("test.go", source)
		for i, err := range []error{onDevice, onHost} {
			switch {
			case want[i] == "" && err != nil:
				t.Errorf("%s\n%v", body, err)
			case want[i] != "" && (err == nil || !strings.Contains(err.Error(), want[i])):
				t.Errorf("%s\n%v; want %s", body, err, want[i])
			case want[i] != "" && i == 1 && regexp.MustCompile(`\b(kernel|barriers?|threads?|devices?|atomics?)\b`).MatchString(err.Error()):
				t.Errorf("%s\n%v is advice for a GPU", body, err)
			}
		}
	}
}
