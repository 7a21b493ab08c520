package golang

import "testing"

// What package runtime, and those that ask it, say of calls in cells.
var calling = []scenario{
	{"runtime.Caller", []string{
		"func where(skip int) string {\n\tpc, file, line, ok := runtime.Caller(skip)\n\treturn fmt.Sprint(runtime.FuncForPC(pc).Name(), \" \", file, \":\", line, \" \", ok)\n}\nwhere(0)", `=> "main.where cells/In[1]:2 true"`,
		"type T struct{}\nfunc (*T) M() string {\n\treturn func() string {\n\t\treturn where(1)\n\t}()\n}\n\nnew(T).M()", `=> "main.(*T).M.func1 cells/In[2]:4 true"`,
		"where(1), where(2) == where(100)", `=> "main.main cells/In[3]:1 true", true`,
		"_, _, _, ok := runtime.Caller(100)\nok", "=> false",
	}},
	{"runtime.Callers", []string{
		"func calls() (list []string) {\n\tpc := make([]uintptr, 20)\n\tframes := runtime.CallersFrames(pc[:runtime.Callers(1, pc)])\n\tfor {\n\t\tf, more := frames.Next()\n\t\tlist = append(list, fmt.Sprint(f.Function, \":\", f.Line, \" \", f.Func.Name() == f.Function))\n\t\tif !more { return list }\n\t}\n}\nfunc f(n int) []string {\n\tif n > 0 { return f(n-1) }\n\treturn calls()\n}\nall := f(1)\nstrings.Join(all[:4], \", \"), len(all), strings.HasPrefix(all[4], \"runtime.main:\"), strings.HasPrefix(all[5], \"runtime.goexit:\")", `=> "main.calls:3 true, main.f:12 true, main.f:11 true, main.main:14 true", 6, true, true`,
		"var got []string\nsort.Slice([]int{2, 1}, func(i, j int) bool {\n\tgot = calls()\n\treturn false\n})\ngot[0], got[1], strings.HasPrefix(got[2], \"sort.\"), got[len(got)-3]", `=> "main.calls:3 true", "main.main.func1:3 true", true, "main.main:2 true"`,
	}},
	{"debug.Stack", []string{
		"func f() string { return string(debug.Stack()) }\nlines := strings.Split(f(), \"\\n\")[1:]\nfmt.Print(strings.Join(lines, \"\\n\"))", "main.f(...)\n\tcells/In[1]:1\nmain.main(...)\n\tcells/In[1]:2",
	}},
	{"lines of logs", []string{
		"l := log.New(os.Stdout, \"\", 0)\nvar b strings.Builder\nl = log.New(&b, \"p: \", log.Lshortfile)\nfunc f() {\n\tl.Println(\"f\")\n}\nf()\nl.Print(\"value.go:1: x\")\nfmt.Print(b.String())", "p: In[1]:5: f\np: In[1]:8: value.go:1: x",
		"log.SetOutput(&b)\nlog.SetFlags(log.Lshortfile|log.Lmsgprefix)\nlog.SetPrefix(\"<\")\nb.Reset()\nlog.Print(\"std\")\nlog.Default().Print(\"default\")\nfmt.Print(b.String())", "In[2]:5: <std\nIn[2]:6: <default",
		"b.Reset()\nm := log.New(&b, \"\", 0)\nm.SetFlags(log.Lshortfile)\nsay := func(s string) { m.Output(2, s) }\nfunc twice() { func() { m.Output(3, \"three\") }() }\nsay(\"two\")\ntwice()\nm.SetFlags(log.Llongfile)\nm.Output(1, \"one\")\nfmt.Print(b.String())", "In[3]:6: two\nIn[3]:7: three\ncells/In[3]:9: one",
		"b.Reset()\nh := slog.NewTextHandler(&b, &slog.HandlerOptions{AddSource: true, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {\n\tif a.Key == slog.TimeKey { return slog.Attr{} }\n\treturn a\n}})\nfunc g() {\n\tslog.New(h).With(\"a\", 1).Info(\"g\")\n}\ng()\nfmt.Print(b.String())", "level=INFO source=cells/In[4]:7 msg=g a=1",
	}},
}

func TestCalling(t *testing.T) {
	for _, sc := range calling {
		t.Run(sc.name, sc.test)
	}
}
