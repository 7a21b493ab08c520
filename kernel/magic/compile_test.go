package magic

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// fakeCompiler is a Compiler that keeps what it is asked.
type fakeCompiler struct {
	list     []CompiledFunction
	off      bool
	compiles bool
	ran      int
}

func (c *fakeCompiler) CompileNext(run func() error) error {
	c.compiles = true
	defer func() { c.compiles = false }()
	c.ran++
	return run()
}
func (c *fakeCompiler) SetCompile(on bool)           { c.off = !on }
func (c *fakeCompiler) Compiled() []CompiledFunction { return c.list }

func TestCompile(t *testing.T) {
	c := &fakeCompiler{}
	set := NewSet(Compile(c)...)
	run := func(code string) (string, error) {
		env := &recorder{}
		err := set.Run(context.Background(), env, code)
		return env.text(), err
	}
	if _, err := run("%%compile\nfunc f() {}"); err != nil || c.ran != 1 || c.compiles {
		t.Error(err, c)
	}
	if out, err := run("%compile"); err != nil || !strings.HasPrefix(out, "nothing was compiled") {
		t.Error(out, err)
	}
	c.list = []CompiledFunction{
		{Name: "f", Cell: "In[1]", Line: 2, Took: 120 * time.Millisecond, Code: "static i64 f_f() {}\n"},
		{Name: "*T.m", Cell: "In[1]", Line: 3, Took: time.Millisecond, Cached: true},
		{Name: "g", Cell: "In[2]", Line: 1, Reason: "In[2]:1:8: there are no maps"},
	}
	out, err := run("%compile")
	want := "f (In[1]:2): compiled in 120 ms\n*T.m (In[1]:3): compiled, from the cache in 1 ms\ng (In[2]:1): interpreted: In[2]:1:8: there are no maps\n"
	if err != nil || out != want {
		t.Errorf("%s%v, want\n%s", out, err, want)
	}
	if out, err := run("%compile f"); err != nil || out != "static i64 f_f() {}\n" {
		t.Error(out, err)
	}
	var e *Error
	if _, err := run("%compile h"); !errors.As(err, &e) || e.Name != "UsageError" {
		t.Error(err)
	}
	if _, err := run("%compile off"); err != nil || !c.off {
		t.Error(err)
	}
	if _, err := run("%compile on"); err != nil || c.off {
		t.Error(err)
	}
}
