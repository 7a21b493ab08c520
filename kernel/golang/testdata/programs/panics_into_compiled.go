// Compiled packages recover from panics of functions that they call: they see the value
// that the program gave.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"sync"
	"text/template"
)

type fault struct{ n int }

func (f *fault) Error() string { return fmt.Sprint("fault ", f.n) }

type marshals int

func (marshals) MarshalJSON() ([]byte, error) { panic(&fault{7}) }

type named int

func (n named) String() string {
	switch n {
	case 0:
		panic(errors.New("an error"))
	case 1:
		panic("a string")
	case 2:
		panic(fault{2}.n)
	}
	var m map[string]int
	m["nil"]++
	return ""
}

func try(name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Printf("%s: %T %v\n", name, r, r)
		}
	}()
	f()
}

func main() {
	var list []int
	for _, f := range []func() string{
		func() string { panic(&fault{3}) },
		func() string { panic("a string") },
		func() string { panic("reflect: call of nil func") },
		func() string { panic(errors.New("reflect: index out of range")) },
		func() string { panic(list) },
		func() string { return fmt.Sprint(list[5]) },
	} {
		t := template.Must(template.New("x").Funcs(template.FuncMap{"f": f}).Parse(`{{f}}`))
		err := t.Execute(io.Discard, nil)
		var as *fault
		fmt.Println(errors.As(err, &as))
		try("itself", func() { f() })
	}
	for i := range 4 {
		fmt.Println(named(i))
	}
	try("json", func() { json.Marshal(marshals(1)) })
	try("once", func() {
		f := sync.OnceFunc(func() { panic(&fault{1}) })
		try("first", f)
		f()
	})
	try("sort", func() { sort.Slice([]int{3, 2, 1}, func(i, j int) bool { panic(fault{4}) }) })

	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler) // which a server does not write to its log
	}))
	server.Config.ErrorLog = log.New(os.Stdout, "", 0)
	server.Start()
	_, err := http.Get(server.URL)
	fmt.Println(err != nil)
	server.Close()
}
