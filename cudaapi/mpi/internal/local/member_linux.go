package local

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// member is a rank's end of its connection to the Hub.
type member struct {
	conn *net.UnixConn
	size int
	fd   int // of the segment, -1 once it is mapped
	hub  int // the launcher's process id
}

// join takes a place in a job.
func join(s seat) (*member, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: "@" + s.name, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("the launcher of this rank's job is gone (%w)", err)
	}
	m, err := enter(conn, s)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return m, nil
}

func enter(conn *net.UnixConn, s seat) (*member, error) {
	who, err := peer(conn)
	if err != nil {
		return nil, err
	}
	if int(who.Uid) != os.Getuid() && os.Getuid() != 0 {
		return nil, fmt.Errorf("the job's socket belongs to user %d, not to this one, %d", who.Uid, os.Getuid())
	}
	conn.SetDeadline(time.Now().Add(helloTimeout))
	if err := send(conn, note{kind: noteHello, n: s.rank, text: s.token}); err != nil {
		return nil, err
	}
	head, rights := make([]byte, noteHead), make([]byte, unix.CmsgSpace(4))
	n, got, _, _, err := conn.ReadMsgUnix(head, rights)
	if err != nil {
		return nil, err
	}
	fds := descriptors(rights[:got])
	m := &member{conn: conn, size: s.size, fd: -1, hub: int(who.Pid)}
	if n == noteHead && noteKind(head[0]) == noteWelcome && len(fds) == 1 {
		m.fd = fds[0]
		conn.SetDeadline(time.Time{})
		return m, nil
	}
	for _, fd := range fds {
		unix.Close(fd)
	}
	answer, err := readNote(&after{head[:n], conn})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the job's launcher does not answer: %w", err)
	case answer.kind == noteRefused:
		return nil, fmt.Errorf("the job's launcher refuses this process: %s", answer.text)
	}
	return nil, errors.New("the job's launcher gave no shared memory")
}

// after reads what was read already, then the rest.
type after struct {
	first []byte
	rest  *net.UnixConn
}

func (a *after) Read(b []byte) (int, error) {
	if len(a.first) > 0 {
		n := copy(b, a.first)
		a.first = a.first[n:]
		return n, nil
	}
	return a.rest.Read(b)
}

func descriptors(rights []byte) []int {
	var all []int
	messages, _ := unix.ParseSocketControlMessage(rights)
	for i := range messages {
		fds, _ := unix.ParseUnixRights(&messages[i])
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			all = append(all, fd)
		}
	}
	return all
}

// mapped maps the segment.
func (m *member) mapped() ([]byte, error) {
	defer m.drop()
	var st unix.Stat_t
	if err := unix.Fstat(m.fd, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	if st.Size != int64(segmentBytes(m.size)) {
		return nil, fmt.Errorf("the job's shared memory has %d bytes, it should have %d", st.Size, segmentBytes(m.size))
	}
	mem, err := mapSegment(m.fd, int(st.Size))
	return mem, os.NewSyscallError("mmap", err)
}

func (m *member) launcher() int       { return m.hub }
func (m *member) next() (note, error) { return readNote(m.conn) }
func (m *member) send(n note) error   { return send(m.conn, n) }

func (m *member) close() {
	m.conn.Close()
	m.drop()
}

// drop closes the segment's descriptor, which a mapping does not need.
func (m *member) drop() {
	if m.fd >= 0 {
		unix.Close(m.fd)
		m.fd = -1
	}
}
