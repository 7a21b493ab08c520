package ranks

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/session"
	"gocuda/kernel/session/link"
)

// What mpirun's ranks find in their environment, beside what it gives them.
const (
	addressEnv = "GOCUDA_POOL"     // where the pool listens: host:port, or several with commas between
	keyEnv     = "GOCUDA_POOL_KEY" // in hexadecimal
)

// pmiEnv is the file descriptor by which MPICH's and Slurm's launchers are
// spoken to, and pmiFD its number in the evaluator, after the link's.
const (
	pmiEnv = "PMI_FD"
	pmiFD  = "4"
)

const dialTime = 5 * time.Second

// Supervise is the whole of a process that mpirun starts as a rank: it starts
// an evaluator as its child, which inherits the rank's place from mpirun, and
// drives it for the pool until the pool's link ends.
func Supervise() error {
	addresses, secret := os.Getenv(addressEnv), os.Getenv(keyEnv)
	os.Unsetenv(addressEnv) // the cells need not know them
	os.Unsetenv(keyEnv)
	key, err := hex.DecodeString(secret)
	if addresses == "" || secret == "" || err != nil {
		return fmt.Errorf("rank is started by %%mpi start, through mpirun, with %s and %s in its environment", addressEnv, keyEnv)
	}
	number, err := rankFromEnv()
	if err != nil {
		return err
	}
	conn, err := connect(strings.Split(addresses, ","), key)
	if err != nil {
		return err
	}
	s := &supervisor{conn: conn, asking: map[uint64]chan typed{}}
	o := sessionOptions([]string{fmt.Sprintf("%s=%d", rankEnv, number)}, s.show, s.ask)
	if fd, err := strconv.Atoi(os.Getenv(pmiEnv)); err == nil {
		// The rank's line to Hydra or srun is an inherited descriptor.
		o.Files = []*os.File{os.NewFile(uintptr(fd), "pmi")}
		o.Env = append(o.Env, pmiEnv+"="+pmiFD)
	}
	if s.session, err = session.Start(o); err != nil {
		return err
	}
	defer s.session.Close()
	hostname, _ := os.Hostname()
	if err := send(conn, kindHello, 0, hello{number, s.session.Pid(), hostname}); err != nil {
		return err
	}
	go func() {
		<-s.session.Ended()
		// This process stays: mpirun would end the other ranks with it.
		send(conn, kindEnded, 0, s.session.Death())
	}()
	return s.serve()
}

// rankFromEnv finds which rank this process is: what each mpirun sets is listed.
func rankFromEnv() (int, error) {
	names := []string{"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"}
	for _, name := range names {
		if text := os.Getenv(name); text != "" {
			rank, err := strconv.Atoi(text)
			if err != nil {
				return 0, fmt.Errorf("%s=%s is no rank", name, text)
			}
			return rank, nil
		}
	}
	return 0, fmt.Errorf("mpirun did not tell this process its rank: none of %s is set", strings.Join(names, ", "))
}

// connect makes a link to the first address that answers.
func connect(addresses []string, key []byte) (*link.Conn, error) {
	var failed []error
	for _, a := range addresses {
		stream, err := net.DialTimeout("tcp", a, dialTime)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		stream.SetDeadline(time.Now().Add(dialTime))
		conn, err := link.Sign(stream, key, false)
		if err != nil {
			stream.Close()
			failed = append(failed, fmt.Errorf("%s: %w", a, err))
			continue
		}
		stream.SetDeadline(time.Time{})
		return conn, nil
	}
	return nil, fmt.Errorf("cannot reach the notebook that started this rank: %w", errors.Join(failed...))
}

// supervisor drives a session for the pool.
type supervisor struct {
	conn    *link.Conn
	session *session.Session

	mu     sync.Mutex
	lastID uint64
	asking map[uint64]chan typed
}

func (s *supervisor) show(o session.Output) { send(s.conn, kindOutput, 0, o) }

func (s *supervisor) ask(prompt string, password bool) (string, error) {
	reply := make(chan typed, 1)
	s.mu.Lock()
	s.lastID++
	id := s.lastID
	s.asking[id] = reply
	s.mu.Unlock()
	if err := send(s.conn, kindAsk, id, asked{prompt, password}); err != nil {
		return "", err
	}
	t := <-reply
	switch {
	case t.Interrupted:
		return "", session.ErrInterrupted
	case t.Err != "":
		return "", errors.New(t.Err)
	}
	return t.Text, nil
}

// serve does what the pool asks, until it asks for the end or closes the link.
func (s *supervisor) serve() error {
	for {
		f, err := s.conn.Receive()
		if err == nil {
			err = s.handle(f)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *supervisor) handle(f link.Frame) error {
	switch f.Kind {
	case kindRun:
		var cell session.Cell
		if err := json.Unmarshal(f.Body, &cell); err != nil {
			return err
		}
		go func() {
			result := s.session.Execute(cell)
			select {
			case <-s.session.Ended(): // which is told instead
			default:
				send(s.conn, kindResult, f.ID, result)
			}
		}()
	case kindInterrupt:
		s.session.Interrupt()
	case kindComplete, kindInspect, kindWhere:
		go s.answer(f)
	case kindTyped:
		var t typed
		if err := json.Unmarshal(f.Body, &t); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if reply, ok := s.asking[f.ID]; ok {
			delete(s.asking, f.ID)
			reply <- t
		}
	case kindQuit:
		return io.EOF
	default:
		return fmt.Errorf("frame of unknown kind %d", f.Kind)
	}
	return nil
}

func (s *supervisor) answer(f link.Frame) {
	var q question
	var value any
	err := json.Unmarshal(f.Body, &q)
	if err == nil {
		switch f.Kind {
		case kindComplete:
			value, err = s.session.Complete(q.Code, q.Cursor)
		case kindInspect:
			value, err = s.session.Inspect(q.Code, q.Cursor, q.Detail)
		default:
			value, err = s.session.Where()
		}
	}
	var a answer
	if err == nil {
		a.Value, err = json.Marshal(value)
	}
	if err != nil {
		a.Err = err.Error()
	}
	send(s.conn, kindAnswer, f.ID, a)
}
