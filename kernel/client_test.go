package kernel

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"gocuda/kernel/wire"
)

const (
	testKey  = "a key of this test"
	patience = time.Minute // before a test is taken to hang
)

// message is a message as a front end sees it.
type message struct {
	ID       string
	Type     string
	Parent   string // the parent's message ID
	Metadata map[string]any
	Content  map[string]any
}

func (m message) text(key string) string { s, _ := m.Content[key].(string); return s }

// client is a front end of its own making: it shares no code with the kernel.
type client struct {
	t       testing.TB
	conn    wire.Connection
	session string
	serial  int
	// subshell is what messages are for; "": the main shell.
	subshell string
	// date writes the date of a header, metadata is that of all messages.
	date     func(time.Time) string
	metadata string
	sockets  map[wire.Channel]zmq4.Socket
	inbox    map[wire.Channel]chan message
}

// startKernel serves a kernel until the test ends, and returns its connection.
func startKernel(t testing.TB, options Options) wire.Connection {
	t.Helper()
	if options.HistoryFile == "" {
		options.HistoryFile = filepath.Join(t.TempDir(), "history.jsonl")
	}
	if options.Log == nil {
		options.Log = slog.New(slog.NewTextHandler(testWriter{t}, nil))
	}
	file := filepath.Join(t.TempDir(), "kernel.json")
	text := fmt.Sprintf(`{"transport":"tcp","ip":"127.0.0.1","key":%q,"signature_scheme":"hmac-sha256"}`, testKey)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, file, options) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(patience):
			t.Error("Serve did not return")
		}
	})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if c, err := wire.ReadConnection(file); err == nil && c.ShellPort != 0 {
			return c
		}
	}
	t.Fatal("the kernel did not write its ports to the connection file")
	return wire.Connection{}
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) { w.t.Logf("kernel: %s", p); return len(p), nil }

// connect makes a client whose subscription has taken effect. It may lack some
// channels.
func connect(t testing.TB, conn wire.Connection, without ...wire.Channel) *client {
	t.Helper()
	c := &client{
		t: t, conn: conn, metadata: "{}",
		date:    func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") },
		session: fmt.Sprintf("client-%d", time.Now().UnixNano()),
		sockets: map[wire.Channel]zmq4.Socket{}, inbox: map[wire.Channel]chan message{},
	}
	ctx := context.Background()
	id := zmq4.WithID(zmq4.SocketIdentity(c.session))
	quiet := zmq4.WithLogger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))
	c.sockets[wire.Shell] = zmq4.NewDealer(ctx, id, quiet)
	c.sockets[wire.Control] = zmq4.NewDealer(ctx, id, quiet)
	c.sockets[wire.Stdin] = zmq4.NewDealer(ctx, id, quiet)
	c.sockets[wire.IOPub] = zmq4.NewSub(ctx, quiet)
	for _, ch := range without {
		delete(c.sockets, ch)
	}
	for ch, s := range c.sockets {
		if err := s.Dial(conn.Endpoint(ch)); err != nil {
			t.Fatalf("%s: %v", ch, err)
		}
		inbox := make(chan message, 1<<16)
		c.inbox[ch] = inbox
		go func() {
			for {
				m, err := s.Recv()
				if err != nil {
					return
				}
				inbox <- c.decode(m.Frames)
			}
		}()
	}
	t.Cleanup(func() {
		for _, s := range c.sockets {
			s.Close()
		}
	})
	if err := c.sockets[wire.IOPub].SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	if m := c.next(wire.IOPub); m.Type != "iopub_welcome" {
		t.Fatalf("first message on iopub: %+v, want iopub_welcome", m)
	}
	return c
}

func (c *client) decode(frames [][]byte) message {
	for len(frames) > 0 && string(frames[0]) != "<IDS|MSG>" {
		frames = frames[1:]
	}
	if len(frames) < 6 {
		return message{Type: fmt.Sprintf("malformed: %q", frames)}
	}
	if want := signature(frames[2:6]); want != string(frames[1]) {
		return message{Type: "badly signed"}
	}
	var header, parent struct {
		ID   string `json:"msg_id"`
		Type string `json:"msg_type"`
	}
	var m message
	for i, v := range []any{&header, &parent, &m.Metadata, &m.Content} {
		if err := json.Unmarshal(frames[2+i], v); err != nil {
			return message{Type: "malformed: " + err.Error()}
		}
	}
	m.ID, m.Type, m.Parent = header.ID, header.Type, parent.ID
	return m
}

func signature(frames [][]byte) string {
	mac := hmac.New(sha256.New, []byte(testKey))
	for _, f := range frames {
		mac.Write(f)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// frames makes a message as it goes over the wire.
func (c *client) frames(kind string, content any) (frames [][]byte, id string) {
	c.serial++
	id = fmt.Sprintf("%s_%d", c.session, c.serial)
	fields := map[string]any{
		"msg_id": id, "msg_type": kind, "session": c.session, "username": "tester",
		"date": c.date(time.Now()), "version": "5.3", "subshell_id": nil,
	}
	if c.subshell != "" {
		fields["subshell_id"] = c.subshell
	}
	header, _ := json.Marshal(fields)
	body, err := json.Marshal(content)
	if err != nil {
		c.t.Fatal(err)
	}
	parts := [][]byte{header, []byte("{}"), []byte(c.metadata), body}
	return append([][]byte{[]byte("<IDS|MSG>"), []byte(signature(parts))}, parts...), id
}

// send sends a message and returns its ID.
func (c *client) send(ch wire.Channel, kind string, content any) string {
	c.t.Helper()
	frames, id := c.frames(kind, content)
	if err := c.sockets[ch].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		c.t.Fatalf("send %s: %v", kind, err)
	}
	return id
}

// next waits for the next message on a channel.
func (c *client) next(ch wire.Channel) message {
	c.t.Helper()
	select {
	case m := <-c.inbox[ch]:
		return m
	case <-time.After(patience):
		c.t.Fatalf("nothing came on %s", ch)
		return message{}
	}
}

// ask sends a request, and returns the reply and what was published between
// busy and idle.
func (c *client) ask(ch wire.Channel, kind string, content any) (reply message, published []message) {
	c.t.Helper()
	id := c.send(ch, kind, content)
	return c.answer(ch, id)
}

func (c *client) answer(ch wire.Channel, id string) (reply message, published []message) {
	c.t.Helper()
	if reply = c.next(ch); reply.Parent != id {
		c.t.Fatalf("a reply to %s, want one to %s: %+v", reply.Parent, id, reply)
	}
	return reply, c.published(id)
}

// published returns what a request published, and checks that busy comes first
// and idle last.
func (c *client) published(id string) (list []message) {
	c.t.Helper()
	for {
		m := c.next(wire.IOPub)
		if m.text("execution_state") == "starting" {
			continue // of the kernel's own start, which this client may have seen or not
		}
		if m.Parent != id {
			c.t.Fatalf("published for %q, want %q: %+v", m.Parent, id, m)
		}
		state := m.text("execution_state")
		switch {
		case list == nil && (m.Type != "status" || state != "busy"):
			c.t.Fatalf("first published message is %+v, want busy", m)
		case m.Type == "status" && state == "idle":
			return list[1:]
		}
		list = append(list, m)
	}
}

func (c *client) execute(code string) (reply message, published []message) {
	c.t.Helper()
	return c.ask(wire.Shell, "execute_request", map[string]any{
		"code": code, "silent": false, "store_history": true, "user_expressions": map[string]string{},
		"allow_stdin": true, "stop_on_error": true,
	})
}

// types lists what kinds of messages these are.
func types(list []message) []string {
	kinds := []string{}
	for _, m := range list {
		kinds = append(kinds, m.Type)
	}
	return kinds
}

var _ io.Writer = testWriter{}
