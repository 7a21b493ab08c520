package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Version is the messaging protocol that headers name.
const Version = "5.5"

// Header heads a message.
type Header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
	// Subshell names the subshell that is to handle the message; "": the main shell.
	Subshell string `json:"subshell_id,omitempty"`
}

// Message is a message that arrived.
type Message struct {
	// Identities route an answer back; the first names the connection.
	Identities [][]byte
	Header     Header
	// RawHeader is the header as it came. Answers carry it, unchanged, as
	// their parent header.
	RawHeader    json.RawMessage
	ParentHeader json.RawMessage
	Metadata     json.RawMessage
	Content      json.RawMessage
	Buffers      [][]byte
	// Received is when the kernel read the message.
	Received time.Time
}

// Envelope is what later messages need of m that are in its name, without its content.
func (m *Message) Envelope() *Message {
	return &Message{Identities: slices.Clone(m.Identities), Header: m.Header, RawHeader: m.RawHeader, Received: m.Received}
}

// Size is how many bytes are said in a message.
func (m *Message) Size() int {
	n := len(m.Content)
	for _, b := range m.Buffers {
		n += len(b)
	}
	return n
}

// Outgoing is a message to send.
type Outgoing struct {
	Type     string
	Parent   *Message // what it answers; nil: nothing
	Content  any      // as encoding/json takes it
	Metadata any      // nil: {}
	Buffers  [][]byte
}

// delimiter ends the identities.
var delimiter = []byte("<IDS|MSG>")

// timeFormat is ISO 8601 with microseconds, for times in UTC.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// Sent returns the header's date, or the zero time where it cannot be read.
func (m *Message) Sent() time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, m.Header.Date); err == nil {
			return t
		}
	}
	return time.Time{}
}

// decode reads a message from its frames, and refuses one whose signature is
// wrong before it looks at anything else.
func decode(frames [][]byte, s *signer) (*Message, error) {
	split := -1
	for i, f := range frames {
		if bytes.Equal(f, delimiter) {
			split = i
			break
		}
	}
	if split < 0 {
		return nil, fmt.Errorf("no %s among %d frames", delimiter, len(frames))
	}
	body := frames[split+1:]
	if len(body) < 5 {
		return nil, fmt.Errorf("%d frames after %s, want at least 5", len(body), delimiter)
	}
	if err := s.check(body[0], body[1:5]); err != nil {
		return nil, err
	}
	for i, name := range []string{"header", "parent header", "metadata", "content"} {
		if part := bytes.TrimLeft(body[1+i], " \t\r\n"); len(part) == 0 || part[0] != '{' || !json.Valid(part) {
			return nil, fmt.Errorf("%s is not a JSON object", name)
		}
	}
	m := &Message{
		Identities:   frames[:split:split],
		RawHeader:    body[1],
		ParentHeader: body[2],
		Metadata:     body[3],
		Content:      body[4],
		Buffers:      body[5:],
		Received:     time.Now(),
	}
	if err := json.Unmarshal(m.RawHeader, &m.Header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if m.Header.Type == "" {
		return nil, errors.New("header has no msg_type")
	}
	return m, nil
}

// encode makes the frames that follow the identities.
func encode(h Header, out Outgoing, s *signer) ([][]byte, error) {
	header, err := marshal(h)
	if err != nil {
		return nil, err
	}
	parent, metadata := []byte("{}"), []byte("{}")
	if out.Parent != nil {
		parent = out.Parent.RawHeader
	}
	if out.Metadata != nil {
		if metadata, err = marshal(out.Metadata); err != nil {
			return nil, fmt.Errorf("%s metadata: %w", out.Type, err)
		}
	}
	content, err := marshal(out.Content)
	if err != nil {
		return nil, fmt.Errorf("%s content: %w", out.Type, err)
	}
	parts := [][]byte{header, parent, metadata, content}
	frames := append([][]byte{delimiter, s.sign(parts)}, parts...)
	return append(frames, out.Buffers...), nil
}

// marshal is json.Marshal that leaves <, > and & alone: outputs are full of
// them, and six bytes for each would be waste.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
