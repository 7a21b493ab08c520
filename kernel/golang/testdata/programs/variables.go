package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"
)

// Variables of compiled packages: their address, their value, and what the package
// itself reads are one.

type sevens struct{}

func (sevens) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 7
	}
	return len(p), nil
}

func captured(write func()) string {
	saved := os.Stdout
	defer func() { os.Stdout = saved }()
	r, w, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	os.Stdout = w
	write()
	w.Close()
	text, err := io.ReadAll(r)
	return fmt.Sprintf("%q %v", text, err)
}

func typed(text string, read func()) {
	saved := os.Stdin
	defer func() { os.Stdin = saved }()
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	io.WriteString(w, text)
	w.Close()
	os.Stdin = r
	read()
}

func main() {
	os.Args = []string{"program", "-n", "5", "-v", "rest"}
	args := &os.Args
	*args = append(*args, "more")
	fmt.Println(len(os.Args), len(*args), args == &os.Args, os.Args)
	os.Args[0] = "again"
	fmt.Println((*args)[0])
	for i := range os.Args {
		os.Args[i] += "!"
	}
	fmt.Println(*args)
	*args = []string{"program", "-n", "5", "-v", "rest"}

	n := flag.Int("n", 3, "a number")
	v := flag.Bool("v", false, "more")
	var d time.Duration
	flag.DurationVar(&d, "d", time.Second, "a time")
	flag.Func("f", "a function", func(s string) error { fmt.Println("f", s); return nil })
	flag.Parse()
	fmt.Println(*n, *v, d, flag.Args(), flag.Arg(0), flag.NArg(), flag.NFlag(), flag.Parsed())
	fmt.Println(flag.CommandLine.Lookup("n").Value, flag.Lookup("n") == flag.CommandLine.Lookup("n"))
	fmt.Println(flag.Set("d", "3s"), d, flag.Set("f", "x"))
	flag.Visit(func(f *flag.Flag) { fmt.Print(f.Name, " ") })
	flag.VisitAll(func(f *flag.Flag) { fmt.Print(f.Name, "=", f.DefValue, " ") })
	fmt.Println()
	var text bytes.Buffer
	flag.CommandLine.SetOutput(&text)
	flag.PrintDefaults()
	fmt.Print(text.String())
	flag.Usage = func() { fmt.Println("how it is used") }
	flag.CommandLine.Usage()

	flag.CommandLine = flag.NewFlagSet("mine", flag.ContinueOnError)
	m := flag.String("m", "", "a text")
	err := flag.CommandLine.Parse([]string{"-m", "five", "x"})
	fmt.Println(*m, flag.NArg(), flag.CommandLine.Name(), err)
	set := &flag.CommandLine
	fmt.Println((*set).Lookup("m") != nil, *set == flag.CommandLine)

	client := &http.DefaultClient
	before := *client
	*client = &http.Client{Timeout: time.Second}
	fmt.Println(http.DefaultClient.Timeout, http.DefaultClient == *client, http.DefaultClient == before)
	http.DefaultClient = before
	rate := runtime.MemProfileRate
	p := &runtime.MemProfileRate
	*p = rate + 7
	fmt.Println(runtime.MemProfileRate-rate, runtime.MemProfileRate == rate, runtime.MemProfileRate > rate, -runtime.MemProfileRate == -rate-7)
	if runtime.MemProfileRate == rate {
		fmt.Println("a constant")
	}
	switch runtime.MemProfileRate - rate {
	case 7:
		fmt.Println("seven")
	}
	runtime.MemProfileRate -= 7
	fmt.Println(*p == rate, [...]int{rate, *p}[runtime.MemProfileRate-rate] == runtime.MemProfileRate)

	fmt.Println(captured(func() { fmt.Println("in", "a pipe"); fmt.Fprint(os.Stdout, "too") }))
	out := &os.Stdout
	saved := *out
	r, w, _ := os.Pipe()
	*out = w
	fmt.Println("by its address")
	os.Stdout = saved
	w.Close()
	b, _ := io.ReadAll(r)
	fmt.Printf("%q\n", b)

	typed("3 four\nfive 6\n", func() {
		var i int
		var s, t string
		fmt.Println(fmt.Scan(&i, &s))
		fmt.Println(fmt.Scanln())
		fmt.Println(fmt.Scanf("%s %d", &t, &i))
		fmt.Println(i, s, t)
	})
	typed("the rest", func() {
		b, err := io.ReadAll(os.Stdin)
		fmt.Printf("%q %v\n", b, err)
	})

	order := &binary.LittleEndian
	copied := binary.BigEndian
	fmt.Println(order.Uint16([]byte{1, 2}), copied.Uint16([]byte{1, 2}))
	end := io.EOF
	e := &io.EOF
	*e = errors.New("mine")
	_, err = strings.NewReader("").Read(make([]byte, 1))
	fmt.Println(err, err == io.EOF, io.EOF == *e)
	x := io.EOF
	fmt.Println(x == *e, x != *e, x == end)
	switch x {
	case io.EOF:
		fmt.Println("changed")
	}
	io.EOF = end
	_, err = strings.NewReader("").Read(make([]byte, 1))
	fmt.Println(err, err == *e)
	local := &time.Local
	saved2 := *local
	time.Local = time.UTC
	fmt.Println(*local == time.UTC, time.Unix(0, 0))
	*local = saved2
	fmt.Println(http.NoBody.Close(), &http.DefaultTransport == &http.DefaultTransport, sevens{} == sevens{})
}
