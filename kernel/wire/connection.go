package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"

	"gocuda/internal/ownfolder"
	"gocuda/kernel/wire/curve"
)

// Channel is one of a kernel's five sockets.
type Channel int

const (
	Shell Channel = iota
	Control
	Stdin
	IOPub
	Heartbeat
	channels // how many there are
)

var channelNames = [channels]string{"shell", "control", "stdin", "iopub", "heartbeat"}

func (c Channel) String() string { return channelNames[c] }

// Connection is a connection file's content: where a kernel listens, and the
// key that signs its messages.
type Connection struct {
	Transport       string `json:"transport"` // "tcp" or "ipc"
	IP              string `json:"ip"`        // for ipc: the start of the sockets' paths
	ShellPort       int    `json:"shell_port"`
	ControlPort     int    `json:"control_port"`
	StdinPort       int    `json:"stdin_port"`
	IOPubPort       int    `json:"iopub_port"`
	HBPort          int    `json:"hb_port"`
	SignatureScheme string `json:"signature_scheme"` // "hmac-sha256"
	Key             string `json:"key"`              // empty: messages are not signed
	KernelName      string `json:"kernel_name,omitempty"`
	// CurvePublicKey and CurveSecretKey, in Z85, have connections encrypted (CurveZMQ):
	// only clients that know the public one are taken. Empty: they are not.
	CurvePublicKey string `json:"curve_publickey,omitempty"`
	CurveSecretKey string `json:"curve_secretkey,omitempty"`
}

// ReadConnection reads and checks a connection file. The error says which
// field is wrong.
func ReadConnection(path string) (Connection, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Connection{}, fmt.Errorf("connection file: %w", err)
	}
	c, err := ParseConnection(text)
	if err != nil {
		return Connection{}, fmt.Errorf("connection file %s: %w", path, err)
	}
	return c, nil
}

// ParseConnection reads the JSON text of a connection file. A missing
// transport is tcp, a missing address 127.0.0.1, a missing signature scheme
// hmac-sha256; a port of 0 lets Listen choose.
func ParseConnection(text []byte) (Connection, error) {
	c := Connection{Transport: "tcp", SignatureScheme: "hmac-sha256"}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}
	switch c.Transport {
	case "tcp":
		if c.IP == "" {
			c.IP = "127.0.0.1"
		}
	case "ipc":
		if c.IP == "" {
			return c, errors.New(`"ip" must start the sockets' paths when transport is ipc`)
		}
	default:
		return c, fmt.Errorf(`transport %q is not one of "tcp", "ipc"`, c.Transport)
	}
	if _, err := newSigner(c.SignatureScheme, c.Key); err != nil {
		return c, err
	}
	if _, err := c.curveKeys(); err != nil {
		return c, err
	}
	for ch := Channel(0); ch < channels; ch++ {
		if port := *c.port(ch); port < 0 || c.Transport == "tcp" && port > 65535 {
			return c, fmt.Errorf("%s port %d is out of range", ch, port)
		}
	}
	return c, nil
}

// curveKeys are the keys of CurveZMQ; nil: connections are not encrypted.
func (c *Connection) curveKeys() (*curve.Keys, error) {
	if c.CurvePublicKey == "" && c.CurveSecretKey == "" {
		return nil, nil
	}
	keys, err := curve.ParseKeys(c.CurvePublicKey, c.CurveSecretKey)
	if err != nil {
		return nil, fmt.Errorf("curve_publickey, curve_secretkey: %w", err)
	}
	return &keys, nil
}

func (c *Connection) port(ch Channel) *int {
	return [channels]*int{&c.ShellPort, &c.ControlPort, &c.StdinPort, &c.IOPubPort, &c.HBPort}[ch]
}

// Endpoint names a channel's address as ZeroMQ writes it, such as
// "tcp://127.0.0.1:5555".
func (c Connection) Endpoint(ch Channel) string {
	if c.Transport == "ipc" {
		return "ipc://" + c.path(ch)
	}
	return "tcp://" + net.JoinHostPort(c.IP, strconv.Itoa(*c.port(ch)))
}

func (c Connection) path(ch Channel) string {
	return c.IP + "-" + strconv.Itoa(*c.port(ch))
}

// listen binds one channel. A port of 0 is replaced by the one chosen.
func (c *Connection) listen(ch Channel) (net.Listener, error) {
	port := c.port(ch)
	if c.Transport == "ipc" {
		if *port == 0 {
			for *port = 1; exists(c.path(ch)); *port++ {
			}
		}
		if err := removeSocket(c.path(ch)); err != nil {
			return nil, fmt.Errorf("%s socket: %w", ch, err)
		}
		l, err := net.Listen("unix", c.path(ch))
		if err != nil {
			return nil, fmt.Errorf("%s socket: %w", ch, err)
		}
		return l, nil
	}
	host := c.IP
	if host == "*" {
		host = ""
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(*port)))
	if err != nil {
		return nil, fmt.Errorf("%s socket: %w", ch, err)
	}
	*port = l.Addr().(*net.TCPAddr).Port
	return l, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// removeSocket clears a socket file that an earlier kernel left behind. One at
// which somebody listens is in use.
func removeSocket(path string) error {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSocket == 0 {
		return nil
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return fmt.Errorf("%s is in use: another kernel listens there", path)
	}
	return os.Remove(path)
}

// Write writes the connection file, readable by its owner only: it holds the
// key. Readers see the old file or the new one, never a part.
func (c Connection) Write(path string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = ownfolder.Write(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("connection file: %w", err)
	}
	return nil
}
