package local

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// EnvName is the environment variable that makes a process a rank of a job:
// version:name:token:rank:size. Who can read it can join the job, so it goes
// to the ranks only.
const EnvName = "GOCUDA_MPI_LOCAL"

// MaxRanks is the largest job.
const MaxRanks = 512

const envVersion = "1"

// seat is a rank's place in a job.
type seat struct {
	name, token string // of the job
	rank, size  int
}

func (s seat) String() string {
	return strings.Join([]string{envVersion, s.name, s.token, strconv.Itoa(s.rank), strconv.Itoa(s.size)}, ":")
}

// parseSeat reads what String wrote.
func parseSeat(text string) (seat, error) {
	bad := func(why string) (seat, error) {
		return seat{}, fmt.Errorf("%s does not hold a rank's place (%s): it is set by gocuda's launcher, and is to be left as it is", EnvName, why)
	}
	f := strings.Split(text, ":")
	if f[0] != envVersion {
		return bad(fmt.Sprintf("its version is %q, this program knows %s: launcher and ranks must be of one release", f[0], envVersion))
	}
	if len(f) != 5 || f[1] == "" || f[2] == "" {
		return bad("it should have five parts")
	}
	rank, err := strconv.Atoi(f[3])
	size, err2 := strconv.Atoi(f[4])
	if err != nil || err2 != nil || size < 1 || size > MaxRanks || rank < 0 || rank >= size {
		return bad(fmt.Sprintf("rank %q of %q", f[3], f[4]))
	}
	return seat{f[1], f[2], rank, size}, nil
}

// Present tells whether this process was started as a rank of a local job.
func Present() bool { return os.Getenv(EnvName) != "" }
