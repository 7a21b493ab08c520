// Package settings lists the environment variables that users set. The reference and
// gocuda-kernel doctor show this list; a test compares it with what the code reads.
package settings

import "os"

// Setting is one environment variable.
type Setting struct {
	Name    string
	Group   string // the heading under which the reference lists it
	Meaning string // one sentence, or more
	Default string // what holds where it is not set
}

// All are the settings, in the order of the reference.
func All() []Setting {
	return []Setting{
		{"GOCUDA_BACKEND", "Devices", "Which devices notebooks use: `auto`, `nvidia` or `sim`.", "`auto`: GPUs where there are any"},
		{"GOCUDA_NVRTC", "Devices", "Path of NVRTC's library.", "searched in toolkits, pip's packages and the system's folders"},
		{"GOCUDA_CUPTI", "Devices", "Path of CUPTI's library, which times what runs on GPUs for `%%timeline`.", "searched as NVRTC is; without it, events are used"},
		{"GOCUDA_NCCL", "Devices", "Path of NCCL's library.", "searched as NVRTC is"},

		{"GOCUDA_SIM_DEVICES", "Simulated devices", "Number of devices, 1 to 1,024.", "4"},
		{"GOCUDA_SIM_NODES", "Simulated devices", "A cluster: `128x8` is 128 nodes of 8 devices, linked by NVLink within a node and by a network between nodes.", "one node"},
		{"GOCUDA_SIM_MEMORY", "Simulated devices", "Memory of each device, such as `512M`.", "16G"},
		{"GOCUDA_SIM_SCHEDULE", "Simulated devices", "`random`, or `adversarial`, which delays whatever is not ordered, so that a missing wait shows.", "`random`"},
		{"GOCUDA_SIM_SEED", "Simulated devices", "Seed of the random schedule, from 1.", "1"},
		{"GOCUDA_SIM_RACES", "Simulated devices", "`on` looks for races between the threads of every launch, as checked cells do. It needs NVRTC.", "off"},
		{"GOCUDA_SIM_CHECK", "Simulated devices", "`0` leaves out the bounds checks of kernels.", "on"},
		{"GOCUDA_SIM_CUDA", "Simulated devices", "What compiles `%%cuda` cells: `ptx` is NVRTC, as for a GPU, whose PTX is run; `c++` is the host's compiler alone.", "`auto`: NVRTC where it is found"},
		{"GOCUDA_SIM_PROFILE", "Simulated devices", "Figures of the devices: `h100`, `h200`, or a file that `gocuda-kernel doctor --profile` wrote.", "`h200`"},

		{"GOCUDA_MPI", "MPI", "The MPI library: `auto`, `local`, `openmpi`, `mpich`, `intel`, `abi`, or the path of a libmpi. `local` is the built-in transport.", "`auto`: that of the mpirun which started the ranks"},
		{"GOCUDA_MPI_START", "MPI", "Options of `%mpi start` for notebooks that give none, such as `--hosts h1:4,h2:4`.", "none"},
		{"GOCUDA_MPI_PATH", "MPI", "How messages of device memory travel: `ipc`, `staged` or `cuda-aware`.", "the fastest that works"},
		{"GOCUDA_MPI_ALLREDUCE", "MPI", "How device memory is reduced: `auto`, `host`, `ll`, `simple`, `group`, `nccl` or `ring`.", "`auto`: by size and links"},
		{"GOCUDA_MPI_THREAD", "MPI", "The thread level that the library is asked for: `single`, `funneled`, `serialized` or `multiple`.", "`multiple`"},

		{"GOCUDA_COMPILE", "Cells", "`0`: cells are interpreted only. `all`: every function and loop that can be is compiled before it runs.", "what runs for long is compiled"},
		{"GOCUDA_CHECK", "Cells", "`1` checks notebooks, and programs run by `exec`, for missing waits, as `%check on` does. A folder keeps the record of each process, for `gocuda-kernel check FOLDER`.", "off"},
		{"GOCUDA_TIMELINE", "Cells", "For `exec`, a file: the program's timeline is written to it for Perfetto, and its table is printed. In notebooks, `1` does what `%timeline on` does.", "off"},
		{"GOCUDA_WRAP", "Cells", "A command that starts the evaluators, the notebook's and its ranks', such as `compute-sanitizer`.", "none"},

		{"GOCUDA_CACHE", "Files and messages", "Folder of compiled kernels, or `off`. No other user may be able to write in it.", "in the user's cache folder"},
		{"GOCUDA_HISTORY", "Files and messages", "File of the history, or `off`.", "in the user's state folder"},
		{"GOCUDA_LOG", "Files and messages", "Level of the kernel's messages on stderr: `debug` shows most.", "quiet"},
		{"GOCUDA_SHOW_LOWERED", "Files and messages", "Any value prints the Go that cells are lowered to. For those who develop gocuda.", "off"},
	}
}

// Set are the settings that this process has, as NAME=VALUE.
func Set() []string {
	var list []string
	for _, s := range All() {
		if v, ok := os.LookupEnv(s.Name); ok {
			list = append(list, s.Name+"="+v)
		}
	}
	return list
}
