package ranks

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gocuda/kernel/session"
	"gocuda/kernel/session/link"
)

// What mpirun's ranks find in their environment, beside what it gives them.
const (
	addressEnv = "GOCUDA_POOL"        // where the pool listens: host:port, or several with commas between
	keyEnv     = "GOCUDA_POOL_KEY"    // in hexadecimal
	folderEnv  = "GOCUDA_POOL_FOLDER" // for the launcher's own files
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
	var evaluator *session.Session
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	go func() {
		<-told
		conn.Close()
	}()
	err = session.Serve(conn, func(console *session.Console) (session.Evaluator, error) {
		show := func(o session.Output) { console.Post(o) }
		o := sessionOptions([]string{fmt.Sprintf("%s=%d", rankEnv, number)}, show, console.Input)
		if fd, err := strconv.Atoi(os.Getenv(pmiEnv)); err == nil {
			// The rank's line to Hydra or srun is an inherited descriptor.
			o.Files = []*os.File{os.NewFile(uintptr(fd), "pmi")}
			o.Env = append(o.Env, pmiEnv+"="+pmiFD)
		}
		if evaluator, err = session.Start(o); err != nil {
			return nil, err
		}
		hostname, _ := os.Hostname()
		console.Hello = session.Hello{Rank: number, Pid: evaluator.Pid(), Host: hostname}
		go func() {
			<-evaluator.Ended()
			// This process stays: mpirun would end the other ranks with it.
			console.Ended(evaluator.Death())
		}()
		return evaluator, nil
	})
	if evaluator != nil {
		if err != nil { // the notebook is lost, or the launcher ends the job
			abandon(append(mapped(evaluator.Pid()), os.Getenv(folderEnv)))
		}
		evaluator.Close()
	}
	return err
}

// rankFromEnv finds which rank this process is: what each mpirun sets is listed.
func rankFromEnv() (int, error) {
	names := []string{"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"}
	for _, name := range names {
		if text := os.Getenv(name); text != "" {
			rank, err := strconv.Atoi(text)
			if err != nil {
				return 0, fmt.Errorf("%s=%s is not a rank", name, text)
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
		network := "tcp"
		if path, own := strings.CutPrefix(a, ownPrefix); own {
			network, a = "unix", path
		}
		stream, err := net.DialTimeout(network, a, dialTime)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		watchOver(stream)
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
