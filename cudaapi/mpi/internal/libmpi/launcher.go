package libmpi

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// family is a kind of MPI library: what a launcher starts, and what
// GOCUDA_MPI may ask for.
type family string

const (
	openMPIFamily  family = "openmpi"
	mpichFamily    family = "mpich" // Intel MPI, MVAPICH and others too
	standardFamily family = "abi"   // the standard ABI of MPI 5
)

// Launcher is what started this process as a rank.
type Launcher struct {
	Name       string // such as "mpirun of Open MPI"
	Rank, Size int    // as the environment has them; -1 if it does not say
	families   []family
	ancestor   string // the launcher's own executable on this host, if it was found
}

// launchers are known by the variables that they set.
var launchers = []struct {
	name, rank, size string
	families         []family
}{
	{"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", []family{openMPIFamily, standardFamily}},
	{"mpirun of MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", []family{mpichFamily, standardFamily}},
	{"a PMIx launcher", "PMIX_RANK", "", []family{openMPIFamily, mpichFamily, standardFamily}},
	{"mpirun of MPICH (Hydra)", "PMI_RANK", "PMI_SIZE", []family{mpichFamily, standardFamily}},
	{"a PALS launcher", "PALS_RANKID", "", []family{mpichFamily, standardFamily}},
}

// Launched tells by which MPI launcher this process was started, itself or
// through its parents; nil if by none.
func Launched() *Launcher {
	for _, k := range launchers {
		rank, ok := os.LookupEnv(k.rank)
		if !ok {
			continue
		}
		l := &Launcher{Name: k.name, Rank: number(rank), Size: number(os.Getenv(k.size)), families: k.families, ancestor: ancestor()}
		if _, intel := os.LookupEnv("I_MPI_HYDRA_TOPOLIB"); intel && k.rank == "PMI_RANK" {
			l.Name = "mpirun of Intel MPI"
		}
		return l
	}
	return nil
}

func (l *Launcher) String() string {
	if l.Size < 0 {
		return fmt.Sprintf("%s, as rank %d", l.Name, l.Rank)
	}
	return fmt.Sprintf("%s, as rank %d of %d", l.Name, l.Rank, l.Size)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// ancestor is the executable of the nearest parent process that is an MPI
// launcher or its daemon.
func ancestor() string {
	names := []string{"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "orterun_wrapper", "orted", "prterun", "prted", "prte",
		"hydra_pmi_proxy", "hydra_bstrap_proxy", "mpirun_rsh", "mpispawn"}
	// Bounded, for process ids may be taken up again while we walk.
	for pid, n := os.Getppid(), 0; pid > 1 && n < 64; n++ {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err == nil && slices.Contains(names, filepath.Base(exe)) {
			return exe
		}
		if pid = parent(pid); pid <= 0 {
			break
		}
	}
	return ""
}

// parent is the process id of pid's parent, 0 if it cannot be read.
func parent(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything.
	_, rest, ok := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 2 {
		return 0
	}
	return max(number(fields[1]), 0)
}
