package fatal_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"io"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gocuda/kernel/golang/fatal"
)

func handle(t *testing.T) {
	t.Helper()
	err := fatal.Handle(fatal.Handlers{
		Overflow: func() { panic("overflow") }, MaxStack: 64 << 20,
		Fault: func(text string) { panic(text) },
		Panic: func(value any) {
			if _, ok := value.(stray); ok {
				strays <- value
				runtime.Goexit()
			}
		},
		Large: func(size uintptr) {
			if size > 1<<35 {
				panic("large")
			}
		}, LargeSize: 64 << 20,
	})
	if err != nil {
		if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

type nested struct{ Next *nested }

func deep(n int) *nested {
	var v *nested
	for range n {
		v = &nested{v}
	}
	return v
}

func recurse(n int) int {
	if n < 0 {
		panic("the stack did not overflow")
	}
	return recurse(n+1) + 1
}

// allocate has the runtime reach deeper at each level than the next level itself does.
func allocate(n int) int {
	if n < 0 {
		panic("the stack did not overflow")
	}
	sink = make([]byte, 400+n%50)
	return allocate(n+1) + 1
}

// stray is what a goroutine panics with that nobody recovers in.
type stray int

var strays = make(chan any, 1)

func TestPanics(t *testing.T) {
	handle(t)
	for i := range 100 {
		go func() {
			defer func() {
				defer func() { recover() }()
				panic("inner")
			}()
			panic(stray(i))
		}()
		if v := <-strays; v != stray(i) {
			t.Fatal(v)
		}
	}
}

func TestFatal(t *testing.T) {
	handle(t)
	var n = 1 << 45
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"recursion":        {func() { recurse(0) }, "overflow"},
		"compiled library": {func() { json.Marshal(deep(3_000_000)) }, "overflow"},
		"reflection":       {func() { reflect.DeepEqual(deep(3_000_000), deep(3_000_000)) }, "overflow"},
		"gob":              {func() { gob.NewEncoder(io.Discard).Encode(deep(3_000_000)) }, "overflow"},
		"allocation":       {func() { allocate(0) }, "overflow"},
		"mutex":            {func() { new(sync.Mutex).Unlock() }, "unlock of unlocked mutex"},
		"rwmutex":          {func() { new(sync.RWMutex).Unlock() }, "Unlock of unlocked RWMutex"},
		"rwmutex, reading": {func() { new(sync.RWMutex).RUnlock() }, "RUnlock of unlocked RWMutex"},
		"make":             {func() { _ = make([]byte, n) }, "large"},
		"new":              {func() { sink = new([1 << 45]byte) }, "large"},
		"append":           {func() { _ = append([]byte{}, make([]byte, n)...) }, "large"},
		"repeat":           {func() { sink = strings.Repeat("x", n) }, "large"},
		"buffer":           {func() { new(bytes.Buffer).Grow(n) }, "too large"},
		"reflect":          {func() { reflect.MakeSlice(reflect.TypeFor[[]int](), n>>3, n>>3) }, "large"},
		"channel":          {func() { _ = make(chan [1 << 10]byte, n>>10) }, "large"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				done := make(chan any)
				go func() {
					defer func() { done <- recover() }()
					c.f()
				}()
				if v := <-done; v == nil || !strings.Contains(toText(v), c.want) {
					t.Fatalf("%v, want %q", v, c.want)
				}
				runtime.GC()
			}
		})
	}
}

var sink any

func toText(v any) string {
	if e, ok := v.(error); ok {
		return e.Error()
	}
	s, _ := v.(string)
	return s
}

// Goroutines that grow their stacks, allocate and collect at once are not disturbed.
func TestOthersGoOn(t *testing.T) {
	handle(t)
	var depth func(n int) int
	depth = func(n int) int {
		var room [64]int
		if n == 0 {
			return len(room)
		}
		return depth(n-1) + room[n%64]
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 6 {
				if i%8 == 0 {
					var overflow sync.WaitGroup
					overflow.Go(func() {
						defer func() { recover() }()
						recurse(0)
					})
					overflow.Wait()
				}
				depth(1000 * (k%10 + 1))
				_ = make([]byte, 70<<20)
			}
		})
	}
	wg.Wait()
}

func TestMapsUsedAtOnce(t *testing.T) {
	handle(t)
	m := map[int]int{}
	var wg sync.WaitGroup
	seen := make(chan any, 8)
	for range 8 {
		wg.Go(func() {
			defer func() { seen <- recover() }()
			for i := 0; i < 20_000_000 && len(seen) == 0; i++ {
				m[i%100]++
			}
		})
	}
	wg.Wait()
	close(seen)
	for v := range seen {
		if v != nil {
			if text, _ := v.(string); !strings.Contains(text, "concurrent map") {
				t.Error(v)
			}
		}
	}
}
