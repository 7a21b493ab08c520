package host

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestCallers: traces have compiled code around a cell's, and end.
func TestCallers(t *testing.T) {
	names := func(skip int) (list []string) {
		pc := make([]uintptr, 3)
		for {
			n := callers(skip, pc)
			if n == 0 {
				return list
			}
			for frames := runtime.CallersFrames(pc[:n]); ; {
				f, more := frames.Next()
				list = append(list, f.Function)
				if !more {
					break
				}
			}
			skip += n
		}
	}
	var got, skipped []string
	handler := reflect.MakeFunc(reflect.TypeFor[http.HandlerFunc](), func([]reflect.Value) []reflect.Value {
		got, skipped = names(1), names(2)
		return nil
	}).Interface().(http.HandlerFunc)
	s := httptest.NewServer(handler)
	defer s.Close()
	if _, err := http.Get(s.URL); err != nil {
		t.Fatal(err)
	}
	if len(got) < 2 || got[0] != "net/http.HandlerFunc.ServeHTTP" || len(skipped) != len(got)-1 {
		t.Errorf("got %v, then %v", got, skipped)
	}
	for _, name := range got {
		if strings.HasPrefix(name, "gocuda/") || strings.HasPrefix(name, "reflect.") {
			t.Errorf("%s is a frame", name)
		}
	}
}
