package ranks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/session"
	"gocuda/kernel/session/link"
)

var doorKey = bytes.Repeat([]byte{3}, link.KeySize)

func testDoor(t *testing.T, n int) *door {
	t.Helper()
	d, err := openDoor(n, doorKey, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// report is what a rank does at the door.
func report(d *door, key []byte, kind byte, hello any) error {
	c, err := net.Dial("tcp", d.listener.Addr().String())
	if err != nil {
		return err
	}
	l, err := link.Sign(c, key, false)
	if err != nil {
		c.Close()
		return err
	}
	return send(l, kind, 0, hello)
}

// refuses waits until the door tells of its nth refused connection.
func refuses(t *testing.T, d *door, n int, want string) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if list := d.refused(); len(list) >= n && strings.Contains(list[n-1], want) {
			return
		} else if all := strings.Join(list, "\n"); time.Since(begun) > 30*time.Second {
			t.Fatalf("refused: %q; want %q as number %d", all, want, n)
		}
	}
}

func TestTheDoorIsOnTheLoopbackInterfaceOnly(t *testing.T) {
	d := testDoor(t, 1)
	if a := d.listener.Addr().(*net.TCPAddr); !a.IP.IsLoopback() {
		t.Errorf("it listens at %v", a)
	}
	if list := d.addresses(false); len(list) != 1 || !strings.HasPrefix(list[0], "127.0.0.1:") {
		t.Errorf("ranks are sent to %v", list)
	}
	for options, wide := range map[string]bool{"--host a:2": true, "-hostfile=x": true, "--map-by node": false, "": false} {
		t.Setenv("SLURM_JOB_NODELIST", "")
		if namesHosts(strings.Fields(options)) != wide {
			t.Errorf("%q names hosts: %v", options, !wide)
		}
	}
}

func TestTheDoorAdmitsEachRankOnce(t *testing.T) {
	d := testDoor(t, 2)
	if err := report(d, doorKey, kindHello, hello{Rank: 1, Pid: 5, Host: "h"}); err != nil {
		t.Fatal(err)
	}
	if a := <-d.arrived; a.Rank != 1 || a.Pid != 5 || a.Host != "h" {
		t.Errorf("arrived: %+v", a.hello)
	}
	wrong := bytes.Repeat([]byte{4}, link.KeySize)
	if err := report(d, wrong, kindHello, hello{}); err == nil {
		t.Error("a wrong key is accepted")
	}
	refuses(t, d, 1, "it did not prove that it knows the key")
	for i, test := range []struct {
		kind  byte
		hello any
		want  string
	}{
		{kindHello, hello{Rank: 1}, "there is a rank 1 already"},
		{kindHello, hello{Rank: 2}, "it says that it is rank 2 of 2"},
		{kindHello, hello{Rank: -1}, "it says that it is rank -1 of 2"},
		{kindResult, hello{}, "it sent what made no sense"},
		{kindHello, "rank 0", "it sent what made no sense"},
		{kindHello, map[string]string{"host": strings.Repeat("x", maxHello)}, "it sent what made no sense"},
	} {
		report(d, doorKey, test.kind, test.hello)
		refuses(t, d, i+2, test.want)
	}
	if err := report(d, doorKey, kindHello, hello{Rank: 0}); err != nil {
		t.Fatal(err)
	}
	if a := <-d.arrived; a.Rank != 0 {
		t.Errorf("arrived: %+v", a.hello)
	}
}

// Strangers who say nothing do not keep ranks out, and are not waited for.
func TestManyStrangersDoNotBlockTheDoor(t *testing.T) {
	d := testDoor(t, 1)
	for range 3 * maxUnproven {
		c, err := net.Dial("tcp", d.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if err := report(d, doorKey, kindHello, hello{Rank: 0}); err != nil {
		t.Fatal(err)
	}
	<-d.arrived
	refuses(t, d, 1, "too many connections came at once")
	refuses(t, d, maxStrangers+1, "more connections")
	if n := len(d.refused()); n > maxStrangers+1 {
		t.Errorf("%d lines tell of strangers", n)
	}
	d.close()
	if _, err := net.Dial("tcp", d.listener.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}

// pipe is a remote rank whose other end the test plays.
func pipe(t *testing.T) (*remote, *link.Conn) {
	a, b := net.Pipe()
	r := newRemote(link.New(a), 1, func() string { return "" })
	r.show = func(session.Output) {}
	r.input = func(prompt string, _ bool) (string, error) { return "typed " + prompt, nil }
	other := link.New(b)
	t.Cleanup(func() { other.Close() })
	go r.listen()
	return r, other
}

func TestARankThatMakesNoSenseIsGivenUp(t *testing.T) {
	for _, f := range []link.Frame{
		{Kind: 0}, {Kind: 255}, {Kind: kindRun}, {Kind: kindOutput, Body: []byte("{")}, {Kind: kindAsk, Body: []byte("[]")}, {Kind: kindEnded, Body: []byte("{}")},
	} {
		r, rank := pipe(t)
		result := make(chan session.Result, 1)
		go func() { result <- r.Execute(session.Cell{}) }()
		if got, err := rank.Receive(); err != nil || got.Kind != kindRun {
			t.Fatal(got, err)
		}
		rank.Send(f)
		if got := <-result; got.Err == nil || got.Err.Name != "EvaluatorDied" {
			t.Errorf("kind %d: the cell ended with %+v", f.Kind, got)
		}
		if why := r.Death(); !strings.Contains(why, "it sent what made no sense") {
			t.Errorf("kind %d: it ended because %q", f.Kind, why)
		}
	}
}

func TestAnswersOfARank(t *testing.T) {
	r, rank := pipe(t)
	go func() {
		for {
			f, err := rank.Receive()
			if err != nil {
				return
			}
			switch f.Kind {
			case kindWhere:
				send(rank, kindAnswer, f.ID+77, answer{Err: "of a question that nobody asked"})
				value, _ := json.Marshal(session.Place{Cell: "In[1]"})
				send(rank, kindAnswer, f.ID, answer{Value: value})
			case kindComplete:
				rank.Send(link.Frame{Kind: kindAnswer, ID: f.ID, Body: []byte("nonsense")})
			case kindInspect:
				send(rank, kindAnswer, f.ID, answer{Err: "no such name"})
			case kindRun:
				send(rank, kindAsk, 9, asked{Prompt: "name?"})
			case kindTyped:
				var a typed
				json.Unmarshal(f.Body, &a)
				send(rank, kindResult, 4, session.Result{Data: []byte(a.Text)})
			}
		}
	}()
	if p, err := r.Where(); err != nil || p.Cell != "In[1]" {
		t.Errorf("where: %v %v", p, err)
	}
	if _, err := r.Complete("x", 1); err == nil || !strings.Contains(err.Error(), "made no sense") {
		t.Errorf("completion: %v", err)
	}
	if _, err := r.Inspect("x", 1, 0); err == nil || err.Error() != "no such name" {
		t.Errorf("inspection: %v", err)
	}
	if got := r.Execute(session.Cell{}); string(got.Data) != "typed name?" {
		t.Errorf("the cell read %q", got.Data)
	}
	rank.Close()
	if _, err := r.Where(); err == nil {
		t.Error("a rank that is gone answers")
	}
}

// FuzzRank gives any frames to the pool's end of a rank's link: it takes them,
// or gives the rank up.
func FuzzRank(f *testing.F) {
	for kind := range byte(16) {
		f.Add(kind, uint64(1), []byte(`{"kind":"display","text":"x","value":{}}`))
	}
	f.Add(byte(kindEnded), uint64(0), []byte(`"why"`))
	f.Fuzz(func(t *testing.T, kind byte, id uint64, body []byte) {
		a, b := net.Pipe()
		defer b.Close()
		defer a.Close()
		go func() { // the answers to what it asks
			for c := link.New(b); ; {
				if _, err := c.Receive(); err != nil {
					return
				}
			}
		}()
		r := newRemote(link.New(a), 1, func() string { return "" })
		r.show, r.input = func(session.Output) {}, func(string, bool) (string, error) { return "", nil }
		answers := make(chan link.Frame, 1)
		r.answers[1] = answers
		err := r.handle(link.Frame{Kind: kind, ID: id, Body: body})
		if known := kind >= kindHello+1 && kind <= kindEnded; !known && err == nil {
			t.Errorf("a frame of kind %d is taken", kind)
		}
		if len(answers) > 0 && (kind != kindResult && kind != kindAnswer || id != 1) {
			t.Errorf("kind %d, id %d answers question 1", kind, id)
		}
	})
}

func TestRankFromEnv(t *testing.T) {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"} {
		t.Setenv(name, "")
	}
	if _, err := rankFromEnv(); err == nil || !strings.Contains(err.Error(), "none of OMPI_COMM_WORLD_RANK") {
		t.Errorf("error %v", err)
	}
	t.Setenv("PMIX_RANK", "x")
	if _, err := rankFromEnv(); err == nil || !strings.Contains(err.Error(), "PMIX_RANK=x is no rank") {
		t.Errorf("error %v", err)
	}
	t.Setenv("PMI_RANK", "3")
	if r, err := rankFromEnv(); err != nil || r != 3 {
		t.Errorf("rank %d, %v", r, err)
	}
}

func TestParseSet(t *testing.T) {
	for text, want := range map[string]string{
		"0": "[0]", "2,0": "[0 2]", "1-3": "[1 2 3]", "3,1-2,2": "[1 2 3]", " 0 , 2 ": "[0 2]",
		"4": "there is no rank 4: the ranks are 0-3", "2-7": "there is no rank 4", "3-1": "its first rank is above its last",
		"": "names no ranks", "a": "names no ranks", "-1": "names no ranks", "1-": "names no ranks", "1,,2": "names no ranks",
		"99999999999999999999": "names no ranks",
	} {
		set, err := parseSet(text, 4)
		if got := fmt.Sprint(set); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %s", text, set, err, want)
		}
		if err == nil {
			if again, err := parseSet(formatSet(set), 4); err != nil || fmt.Sprint(again) != want {
				t.Errorf("%q is written as %q, which reads as %v", text, formatSet(set), again)
			}
		}
	}
}
