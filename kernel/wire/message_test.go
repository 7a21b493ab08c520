package wire

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func testSigner(t testing.TB, key string) *signer {
	t.Helper()
	s, err := newSigner("hmac-sha256", key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parts are header, parent header, metadata and content of a message.
func parts(header, parent, metadata, content string) [][]byte {
	return [][]byte{[]byte(header), []byte(parent), []byte(metadata), []byte(content)}
}

func signed(s *signer, parts [][]byte) [][]byte {
	return append([][]byte{[]byte("id"), delimiter, s.sign(parts)}, parts...)
}

func TestDecode(t *testing.T) {
	header := `{"msg_id":"1","msg_type":"x_request","session":"s","date":"2026-11-21T12:00:00.000001Z","extra":[1]}`
	good := parts(header, `{}`, `{}`, `{"code":"ü"}`)
	s := testSigner(t, "key")
	frames := signed(s, good)
	frames = append([][]byte{[]byte("first"), {}}, append(frames, []byte("a buffer"))...)
	m, err := decode(frames, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Identities) != 3 || string(m.Identities[0]) != "first" {
		t.Errorf("identities %q", m.Identities)
	}
	if m.Header.Type != "x_request" || string(m.RawHeader) != header || string(m.Content) != `{"code":"ü"}` {
		t.Errorf("message %+v", m)
	}
	if len(m.Buffers) != 1 || string(m.Buffers[0]) != "a buffer" {
		t.Errorf("buffers %q", m.Buffers)
	}
	if want := time.Date(2026, 11, 21, 12, 0, 0, 1000, time.UTC); !m.Sent().Equal(want) {
		t.Errorf("sent %v, want %v", m.Sent(), want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	const header = `{"msg_id":"1","msg_type":"x_request"}`
	good := parts(header, `{}`, `{}`, `{}`)
	other := testSigner(t, "another key")
	for _, test := range []struct {
		name, want string
		frames     func(s *signer) [][]byte
	}{
		{"nothing", "no <IDS|MSG>", func(*signer) [][]byte { return nil }},
		{"no delimiter", "no <IDS|MSG>", func(*signer) [][]byte { return [][]byte{[]byte("a"), []byte("b")} }},
		{"too short", "3 frames after", func(s *signer) [][]byte { return signed(s, good)[:5] }},
		{"no signature", "signature", func(s *signer) [][]byte { f := signed(s, good); f[2] = nil; return f }},
		{"another key's signature", "signature", func(*signer) [][]byte { return signed(other, good) }},
		{"signature of other content", "signature", func(s *signer) [][]byte {
			f := signed(s, good)
			f[6] = []byte(`{"code":"evil"}`)
			return f
		}},
		{"upper case signature", "signature", func(s *signer) [][]byte {
			f := signed(s, good)
			f[2] = bytes.ToUpper(f[2])
			return f
		}},
		{"header not JSON", "header is not", func(s *signer) [][]byte { return signed(s, parts(`{"a":`, `{}`, `{}`, `{}`)) }},
		{"header not an object", "header is not", func(s *signer) [][]byte { return signed(s, parts(`7`, `{}`, `{}`, `{}`)) }},
		{"header of wrong types", "msg_type", func(s *signer) [][]byte { return signed(s, parts(`{"msg_type":7}`, `{}`, `{}`, `{}`)) }},
		{"header without a type", "no msg_type", func(s *signer) [][]byte { return signed(s, parts(`{}`, `{}`, `{}`, `{}`)) }},
		{"parent not an object", "parent header is not", func(s *signer) [][]byte { return signed(s, parts(header, ``, `{}`, `{}`)) }},
		{"content not an object", "content is not", func(s *signer) [][]byte { return signed(s, parts(header, `{}`, `{}`, `null`)) }},
		{"bytes that are not text", "content is not", func(s *signer) [][]byte { return signed(s, parts(header, `{}`, `{}`, "\xff\xfe")) }},
	} {
		s := testSigner(t, "key")
		m, err := decode(test.frames(s), s)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, error %v, want one with %q", test.name, m, err, test.want)
		}
	}
}

func TestAMessageCountsOnce(t *testing.T) {
	s := testSigner(t, "key")
	frames := signed(s, parts(`{"msg_type":"x"}`, `{}`, `{}`, `{}`))
	if _, err := decode(frames, s); err != nil {
		t.Fatal(err)
	}
	if _, err := decode(frames, s); err != errReplayed {
		t.Errorf("the second time: %v", err)
	}
}

func TestRecentForgetsTheOldest(t *testing.T) {
	var r recent
	for i := range recentMax + 10 {
		if !r.add(strconv.Itoa(i)) {
			t.Fatalf("%d is taken for an old one", i)
		}
	}
	if len(r.set) != recentMax || len(r.ring) != recentMax {
		t.Errorf("keeps %d and %d signatures, want %d", len(r.set), len(r.ring), recentMax)
	}
	if r.add(strconv.Itoa(recentMax + 9)) {
		t.Error("the last one is forgotten")
	}
}

func TestWithoutAKeyNothingIsSigned(t *testing.T) {
	s := testSigner(t, "")
	frames := signed(s, parts(`{"msg_type":"x"}`, `{}`, `{}`, `{}`))
	if len(frames[2]) != 0 {
		t.Errorf("signature %q", frames[2])
	}
	for range 2 {
		if _, err := decode(frames, s); err != nil {
			t.Error(err)
		}
	}
}

// The signature is that of RFC 4231's second test case.
func TestSignatureIsHMACSHA256(t *testing.T) {
	s := testSigner(t, "Jefe")
	got := string(s.sign(parts("what do ya want", " for ", "noth", "ing?")))
	if want := "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEncode(t *testing.T) {
	s := testSigner(t, "key")
	parent := &Message{RawHeader: json.RawMessage(`{"msg_id":"p","unknown":{"x":1}}`)}
	frames, err := encode(Header{ID: "1", Type: "stream"}, Outgoing{
		Type: "stream", Parent: parent, Content: map[string]string{"text": "a < b && \xff"}, Buffers: [][]byte{{1, 2}},
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(frames) != 7 || !bytes.Equal(frames[0], delimiter) || string(frames[1]) != string(s.sign(frames[2:6])) {
		t.Fatalf("frames %q", frames)
	}
	if string(frames[3]) != `{"msg_id":"p","unknown":{"x":1}}` || string(frames[4]) != `{}` || !bytes.Equal(frames[6], []byte{1, 2}) {
		t.Errorf("frames %q", frames)
	}
	if want := `{"text":"a < b && \ufffd"}`; string(frames[5]) != want {
		t.Errorf("content %s, want %s", frames[5], want)
	}
	frames, err = encode(Header{}, Outgoing{Type: "x", Content: struct{}{}}, s)
	if err != nil || string(frames[3]) != `{}` {
		t.Errorf("without a parent: %q, %v", frames, err)
	}
	if _, err := encode(Header{}, Outgoing{Type: "x", Content: func() {}}, s); err == nil || !strings.Contains(err.Error(), "x content") {
		t.Errorf("content that has no JSON: %v", err)
	}
}

func TestDatesAreISO8601InUTC(t *testing.T) {
	s := &Sockets{}
	date := s.header("x").Date
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`).MatchString(date) {
		t.Errorf("date %q", date)
	}
	for _, text := range []string{date, "2026-11-21T12:00:00.123Z", "2026-11-21T13:00:00.5+01:00", "2026-11-21T12:00:00.000001", "2026-11-21T12:00:00Z"} {
		m := Message{Header: Header{Date: text}}
		if m.Sent().IsZero() {
			t.Errorf("cannot read the date %q", text)
		}
	}
}

// Whatever comes: no panic, and nothing is accepted that was not signed.
func FuzzDecode(f *testing.F) {
	s, _ := newSigner("hmac-sha256", "key")
	f.Add([]byte("id"), []byte("<IDS|MSG>"), []byte("sig"), []byte(`{"msg_type":"x"}`), []byte(`{}`), []byte(`{}`), []byte(`{}`), true)
	f.Add([]byte("<IDS|MSG>"), []byte(""), []byte("\xff"), []byte(`[`), []byte(`{"a":[{}]}`), []byte("null"), []byte(""), false)
	f.Fuzz(func(t *testing.T, id, delim, sig, header, parent, metadata, content []byte, sign bool) {
		s.seen = recent{}
		body := [][]byte{header, parent, metadata, content}
		if sign {
			sig = s.sign(body)
		}
		m, err := decode(append([][]byte{id, delim, sig}, body...), s)
		if (m == nil) == (err == nil) {
			t.Fatalf("message %v, error %v", m, err)
		}
		if err != nil {
			return
		}
		if !sign && !bytes.Equal(sig, s.sign(body)) && !bytes.Equal(id, delimiter) {
			t.Fatalf("accepted %q without a signature", body)
		}
		if m.Header.Type == "" || !json.Valid(m.Content) {
			t.Fatalf("accepted %+v", m)
		}
		m.Sent()
	})
}
