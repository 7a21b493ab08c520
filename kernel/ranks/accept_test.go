package ranks

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/ranks/label"
	"gocuda/kernel/session"
	"gocuda/kernel/session/link"
)

var acceptKey = bytes.Repeat([]byte{3}, link.KeySize)

func testAcceptor(t *testing.T, n int) *acceptor {
	t.Helper()
	d, err := openAcceptor(n, acceptKey, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// readyKind is the kind of the frame by which a rank reports, with a Hello.
var readyKind = sync.OnceValue(func() byte {
	a, b := net.Pipe()
	defer b.Close()
	go session.Serve(link.New(a), func(*session.Console) (session.Evaluator, error) { return nil, nil })
	f, err := link.New(b).Receive()
	if err != nil {
		panic(err)
	}
	return f.Kind
})

// report is what a rank does at the acceptor.
func report(d *acceptor, key []byte, kind byte, hello any) error {
	c, err := net.Dial("tcp", d.listener.Addr().String())
	if err != nil {
		return err
	}
	l, err := link.Sign(c, key, false)
	if err != nil {
		c.Close()
		return err
	}
	return link.NewPeer(l).Tell(kind, 0, hello)
}

// refuses waits until the acceptor reports its nth refused connection.
func refuses(t *testing.T, d *acceptor, n int, want string) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if list := d.refused(); len(list) >= n && strings.Contains(list[n-1], want) {
			return
		} else if all := strings.Join(list, "\n"); time.Since(begun) > patience {
			t.Fatalf("refused: %q; want %q as number %d", all, want, n)
		}
	}
}

func TestTheAcceptorIsOnTheLoopbackInterfaceOnly(t *testing.T) {
	d := testAcceptor(t, 1)
	if a := d.listener.Addr().(*net.TCPAddr); !a.IP.IsLoopback() {
		t.Errorf("it listens at %v", a)
	}
	if list := d.addresses(false); len(list) != 2 || !strings.HasPrefix(list[0], ownPrefix) || !strings.HasPrefix(list[1], "127.0.0.1:") {
		t.Errorf("ranks are sent to %v", list)
	}
	for options, wide := range map[string]bool{"--host a:2": true, "-hostfile=x": true, "--map-by node": false, "": false} {
		t.Setenv("SLURM_JOB_NODELIST", "")
		if namesHosts(strings.Fields(options)) != wide {
			t.Errorf("%q names hosts: %v", options, !wide)
		}
	}
}

func TestTheAcceptorAdmitsEachRankOnce(t *testing.T) {
	d := testAcceptor(t, 2)
	if err := report(d, acceptKey, readyKind(), session.Hello{Rank: 1, Pid: 5, Host: "h"}); err != nil {
		t.Fatal(err)
	}
	if a := <-d.arrived; a.Rank != 1 || a.Pid != 5 || a.Host != "h" {
		t.Errorf("arrived: %+v", a.Hello)
	}
	wrong := bytes.Repeat([]byte{4}, link.KeySize)
	if err := report(d, wrong, readyKind(), session.Hello{}); err == nil {
		t.Error("a wrong key is accepted")
	}
	refuses(t, d, 1, "it did not prove that it knows the key")
	for i, test := range []struct {
		kind  byte
		hello any
		want  string
	}{
		{readyKind(), session.Hello{Rank: 1}, "there is a rank 1 already"},
		{readyKind(), session.Hello{Rank: 2}, "it says that it is rank 2 of 2"},
		{readyKind(), session.Hello{Rank: -1}, "it says that it is rank -1 of 2"},
		{readyKind() + 1, session.Hello{}, "it sent invalid data"},
		{readyKind(), "rank 0", "it sent invalid data"},
		{readyKind(), map[string]string{"host": strings.Repeat("x", 4<<10)}, "it sent invalid data"},
	} {
		report(d, acceptKey, test.kind, test.hello)
		refuses(t, d, i+2, test.want)
	}
	if err := report(d, acceptKey, readyKind(), session.Hello{Rank: 0}); err != nil {
		t.Fatal(err)
	}
	if a := <-d.arrived; a.Rank != 0 {
		t.Errorf("arrived: %+v", a.Hello)
	}
}

// Strangers who say nothing do not keep ranks out, and are not waited for.
func TestManyStrangersDoNotBlockTheAcceptor(t *testing.T) {
	d := testAcceptor(t, 1)
	for range 3 * maxUnproven {
		c, err := net.Dial("tcp", d.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if err := report(d, acceptKey, readyKind(), session.Hello{Rank: 0}); err != nil {
		t.Fatal(err)
	}
	<-d.arrived
	refuses(t, d, 1, "too many connections came at once")
	refuses(t, d, maxStrangers+1, "more connections")
	if n := len(d.refused()); n > maxStrangers+1 {
		t.Errorf("%d lines report strangers", n)
	}
	d.close()
	if _, err := net.Dial("tcp", d.listener.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}

// A flood of connections does not reach the ranks of this host, and nothing is
// left of their way in.
func TestAFloodDoesNotDelayRanksOfThisHost(t *testing.T) {
	d := testAcceptor(t, 20)
	stop := make(chan bool)
	var flood sync.WaitGroup
	for range 4 {
		flood.Go(func() {
			var held []net.Conn
			defer func() {
				for _, c := range held {
					c.Close()
				}
			}()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if c, err := net.Dial("tcp", d.listener.Addr().String()); err == nil {
					held = append(held, c)
				} else {
					time.Sleep(time.Millisecond)
				}
				if len(held) > 100 { // as many as no limit on open files forbids
					held[0].Close()
					held = held[1:]
				}
			}
		})
	}
	for begun := time.Now(); len(d.refused()) <= maxStrangers; time.Sleep(5 * time.Millisecond) { // whatever each is refused for
		if time.Since(begun) > patience {
			t.Fatalf("refused: %q", d.refused())
		}
	}
	for i := range 20 {
		l, err := connect(d.addresses(false), acceptKey)
		if err == nil {
			err = link.NewPeer(l).Tell(readyKind(), 0, session.Hello{Rank: i})
		}
		if err != nil {
			t.Fatal(err)
		}
		<-d.arrived
	}
	close(stop)
	flood.Wait()
	path, _ := strings.CutPrefix(d.addresses(false)[0], ownPrefix)
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	d.close()
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the folder is left")
	}
}

// pipe is a remote rank whose other end the test plays.
func pipe(t *testing.T) (*remote, *link.Conn) {
	a, b := net.Pipe()
	input := func(prompt string, _ bool) (string, error) { return "typed " + prompt, nil }
	r := newRemote(arrival{Hello: session.Hello{Pid: 1}, conn: link.New(a)}, func(session.Output) {}, input, func() string { return "" })
	other := link.New(b)
	t.Cleanup(func() { other.Close() })
	go r.listen()
	return r, other
}

func TestARankThatMakesNoSenseIsGivenUp(t *testing.T) {
	r, rank := pipe(t)
	result := make(chan session.Result, 1)
	go func() { result <- r.Execute(session.Cell{}) }()
	if _, err := rank.Receive(); err != nil {
		t.Fatal(err)
	}
	rank.Send(link.Frame{Kind: 0})
	if got := <-result; got.Err == nil || got.Err.Name != "EvaluatorDied" {
		t.Errorf("the cell ended with %+v", got)
	}
	if why := r.Death(); !strings.Contains(why, "it sent invalid data") {
		t.Errorf("it ended because %q", why)
	}
}

// asking is an evaluator whose cells ask for input, and which ends after one.
type asking struct {
	session.Evaluator
	console *session.Console
}

func (a asking) Execute(cell session.Cell) session.Result {
	text, err := a.console.Input(cell.Code, false)
	if err != nil {
		return session.Result{Err: session.NewError("Input", err.Error())}
	}
	a.console.Ended("it was tired")
	return session.Result{Data: []byte(text)}
}

func TestARanksEndIsTold(t *testing.T) {
	r, rank := pipe(t)
	go session.Serve(rank, func(c *session.Console) (session.Evaluator, error) { return asking{console: c}, nil })
	got := r.Execute(session.Cell{Code: "name?", AllowInput: true})
	if got.Err == nil || got.Err.Name != "EvaluatorDied" || r.Death() != "it was tired" {
		t.Errorf("result %+v, death %q", got, r.Death())
	}
	if _, err := r.Where(); err != session.ErrEnded {
		t.Errorf("a rank that has ended says %v", err)
	}
}

func TestRankFromEnv(t *testing.T) {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"} {
		t.Setenv(name, "")
	}
	if _, err := rankFromEnv(); err == nil || !strings.Contains(err.Error(), "none of OMPI_COMM_WORLD_RANK") {
		t.Errorf("error %v", err)
	}
	t.Setenv("PMIX_RANK", "x")
	if _, err := rankFromEnv(); err == nil || !strings.Contains(err.Error(), "PMIX_RANK=x is not a rank") {
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
			if again, err := parseSet(label.Set(set), 4); err != nil || fmt.Sprint(again) != want {
				t.Errorf("%q is written as %q, which reads as %v", text, label.Set(set), again)
			}
		}
	}
}
