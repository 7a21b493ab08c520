package house

// mayImport says what each package may import of the house, and of other
// modules; "x/..." is x and all below it. The narrowest entry counts. What is
// under a package's own internal folder need not be said.
//
// Imports run one way: cmd, kernel, cudaapi. Within cudaapi, cuda sees the
// devices through driver only, and nothing sees Jupyter. Cells and the kernel
// meet in kernel/session alone.
var mayImport = map[string][]string{
	"cmd/gocuda-kernel": {
		"cudaapi/backend", "cudaapi/cuda", "cudaapi/hazard", "cudaapi/mpi/launch", "cudaapi/sim/calibrate", "cudaapi/trace", "install",
		"kernel", "kernel/check", "kernel/evaluator", "kernel/export", "kernel/golang", "kernel/golang/modules", "kernel/lsp", "kernel/magic", "kernel/notebook",
		"kernel/packages", "kernel/solved", "kernel/ranks", "kernel/session", "kernel/tracing", "notebooks", "internal/nvtools", "internal/settings", "golang.org/x/sys/unix", "golang.org/x/term",
	},
	"cmd/gocuda-kernel/internal/doctor": {"cudaapi/driver", "cudaapi/mpi", "cudaapi/nvidia", "install", "internal/settings", "kernel/ranks", "github.com/ebitengine/purego"},
	"install":                           {"golang.org/x/sys/unix"},
	"install/wheels":                    {"install"},
	"install/release":                   {"install"},
	"notebooks":                         {},
	"examples/...":                      {"cudaapi/backend", "cudaapi/cuda", "cudaapi/mpi"},
	"bench/...":                         {"cudaapi/backend", "cudaapi/cuda", "cudaapi/driver"},
	"bench/cells":                       {"bench/cells/programs", "kernel/golang"},
	"bench/cells/programs":              {},
	"scripts/...":                       {},
	"docs/godoc":                        {},
	"internal/...":                      {},

	// The kernel process.
	"kernel":            {"internal/ownfolder", "kernel/display", "kernel/outputs", "kernel/session", "kernel/wire", "github.com/google/uuid"},
	"kernel/outputs":    {"kernel/session"},
	"kernel/wire":       {"internal/ownfolder", "kernel/wire/curve", "github.com/go-zeromq/zmq4/...", "github.com/google/uuid"},
	"kernel/wire/curve": {"golang.org/x/crypto/curve25519", "golang.org/x/crypto/nacl/box"},
	"kernel/notebook":   {"kernel/outputs", "kernel/session"},
	"kernel/session": {
		"kernel/display", "kernel/golang/answer", "kernel/session/link", "kernel/widgets",
		"github.com/ebitengine/purego", "golang.org/x/sys/unix",
	},
	"kernel/session/internal/orphans": {},
	"kernel/session/link":             {},
	"kernel/session/sessiontest":      {"kernel/session", "github.com/ebitengine/purego"},

	// The evaluator process.
	"kernel/evaluator": {
		"cudaapi/backend", "cudaapi/cuda", "cudaapi/hazard", "kernel/display", "kernel/golang", "kernel/golang/assist",
		"kernel/golang/modules", "kernel/magic", "kernel/packages", "kernel/session", "kernel/widgets", "kernel/debugger",
	},
	"kernel/debugger":         {"cudaapi/cuda", "kernel/display", "kernel/golang"},
	"kernel/debugger/compare": {"kernel/debugger", "kernel/golang"},
	"kernel/check":            {"cudaapi/cuda", "cudaapi/driver", "cudaapi/hazard", "cudaapi/record", "internal/ownfolder", "kernel/display", "kernel/evaluator", "kernel/magic", "kernel/session"},
	"kernel/solved":           {"kernel/display", "kernel/evaluator", "kernel/golang/answer", "kernel/magic", "kernel/notebook"},
	"kernel/tracing": {
		"cudaapi/cuda", "cudaapi/trace", "kernel/evaluator", "kernel/magic", "kernel/ranks", "kernel/session", "kernel/timeline",
	},
	"kernel/ranks": {
		"internal/ownfolder", "kernel/ranks/label", "kernel/ranks/pushpull", "cudaapi/cuda", "cudaapi/mpi", "cudaapi/mpi/launch", "cudaapi/mpi/waitfor", "kernel/display", "kernel/evaluator", "kernel/golang/answer",
		"kernel/golang", "kernel/magic",
		"kernel/session", "kernel/session/link", "kernel/widgets", "golang.org/x/sys/unix",
	},
	"kernel/ranks/label":    {},
	"kernel/ranks/pushpull": {"cudaapi/mpi"},
	"kernel/export":         {"kernel/golang", "kernel/magic", "kernel/notebook"},
	"kernel/lsp":            {"kernel/display", "kernel/golang", "kernel/golang/answer", "kernel/golang/assist", "kernel/magic"},
	"kernel/export/spmd":    {"cudaapi/cuda", "cudaapi/mpi", "kernel/display", "kernel/ranks/label"},
	"kernel/magic":          {"cudaapi/backend", "cudaapi/cuda", "cudaapi/gokernel", "internal/cpp", "internal/spell", "kernel/display", "kernel/golang/answer"},
	"kernel/display":        {"internal/picture", "github.com/google/uuid"},
	"kernel/plot":           {"internal/picture", "kernel/display", "gonum.org/v1/plot/..."},
	"kernel/widgets":        {"kernel/display", "github.com/google/uuid"},
	"kernel/lesson":         {"cudaapi/cuda", "cudaapi/hazard", "kernel/display", "kernel/timeline", "kernel/widgets"},
	"kernel/timeline":       {"cudaapi/cuda", "cudaapi/trace", "kernel/display", "kernel/plot"},

	// Go in cells.
	"kernel/golang": {
		"cudaapi/gokernel", "cudaapi/gokernel/osr", "cudaapi/native", "internal/spell", "kernel/display", "kernel/golang/answer", "kernel/golang/assist", "kernel/golang/host", "kernel/golang/host/linked", "kernel/golang/host/trait",
		"kernel/golang/lower", "kernel/golang/named", "kernel/golang/rt",
		"github.com/traefik/yaegi/...",
	},
	"kernel/golang/assist":  {"cudaapi/gokernel", "kernel/display", "kernel/golang/answer", "kernel/magic"},
	"kernel/golang/answer":  {},
	"kernel/golang/lower":   {"cudaapi/gokernel", "cudaapi/gokernel/osr", "kernel/golang/host/trait", "kernel/golang/named", "kernel/golang/rt"},
	"kernel/golang/rt":      {"kernel/golang/fatal", "kernel/golang/host/generic/plain", "kernel/golang/named"},
	"kernel/golang/fatal":   {},
	"kernel/golang/named":   {},
	"kernel/golang/modules": {"internal/ownfolder", "kernel/golang"},
	"kernel/golang/host/...": {
		"kernel/golang/host/generic/...", "kernel/golang/host/linked", "kernel/golang/host/std", "kernel/golang/host/trait", "github.com/traefik/yaegi/...",
	},
	"kernel/golang/score":     {},
	"kernel/golang/compare":   {"kernel/golang"},
	"kernel/internal/extract": {"kernel/golang/host"},
	"kernel/packages": {
		"cudaapi/backend", "cudaapi/collective", "cudaapi/cuda", "cudaapi/driver", "cudaapi/gxf", "cudaapi/hazard", "cudaapi/mpi", "cudaapi/streamsync", "cudaapi/symmetric",
		"kernel/display", "kernel/golang/host", "kernel/golang/host/trait", "kernel/lesson", "kernel/packages/extra", "kernel/plot", "kernel/ranks/pushpull", "kernel/timeline", "kernel/widgets",
	},
	"kernel/packages/gen":       {},
	"kernel/packages/extra":     {"kernel/golang/host", "golang.org/x/..."},
	"kernel/packages/extra/gen": {},

	// CUDA and MPI, for notebooks and programs.
	"cudaapi/driver":              {},
	"cudaapi/driver/drivertest":   {"cudaapi/driver", "cudaapi/record", "internal/nvtools"},
	"cudaapi/nvidia":              {"cudaapi/driver", "cudaapi/internal/clib", "cudaapi/internal/codecache", "cudaapi/internal/headers", "github.com/ebitengine/purego", "golang.org/x/sys/unix"},
	"cudaapi/sim":                 {"cudaapi/driver", "cudaapi/internal/codecache", "cudaapi/internal/headers", "internal/cpp", "cudaapi/internal/hostcxx", "cudaapi/ptx", "cudaapi/ptx/cpp", "github.com/ebitengine/purego", "golang.org/x/sys/..."},
	"cudaapi/sim/calibrate":       {"cudaapi/cuda", "cudaapi/driver", "cudaapi/sim"},
	"cudaapi/sim/corpus":          {"cudaapi/cuda", "cudaapi/driver", "cudaapi/gokernel"},
	"cudaapi/backend":             {"cudaapi/cuda", "cudaapi/driver", "cudaapi/nvidia", "cudaapi/sim"},
	"cudaapi/cuda":                {"cudaapi/driver", "cudaapi/ptx", "cudaapi/gokernel", "cudaapi/gokernel/emulate", "cudaapi/internal/callsite", "cudaapi/internal/codecache", "cudaapi/internal/interrupt", "cudaapi/internal/operators", "cudaapi/internal/unused", "cudaapi/internal/waits"},
	"cudaapi/gpu":                 {},
	"cudaapi/ptx":                 {},
	"cudaapi/ptx/cpp":             {"cudaapi/ptx", "cudaapi/ptx/flow"},
	"cudaapi/ptx/flow":            {"cudaapi/ptx"},
	"cudaapi/gokernel":            {"cudaapi/gokernel/checks", "cudaapi/gokernel/emulate", "cudaapi/gokernel/ir", "cudaapi/gokernel/osr", "cudaapi/gpu", "internal/spell"},
	"cudaapi/gokernel/emulate":    {"cudaapi/gokernel/ir"},
	"cudaapi/native":              {"cudaapi/gokernel", "cudaapi/gokernel/osr", "cudaapi/internal/clib", "cudaapi/internal/codecache", "cudaapi/internal/hostcxx", "golang.org/x/sys/cpu"},
	"cudaapi/gokernel/checks":     {"cudaapi/gokernel/ir"},
	"cudaapi/gokernel/ir":         {},
	"cudaapi/gokernel/osr":        {},
	"cudaapi/record":              {"cudaapi/driver", "cudaapi/internal/callsite", "cudaapi/internal/instrument", "golang.org/x/sys/unix"},
	"cudaapi/internal/instrument": {"cudaapi/driver"},
	"cudaapi/trace":               {"cudaapi/internal/callsite", "cudaapi/cuda", "cudaapi/driver", "cudaapi/record", "golang.org/x/sys/unix"},
	"cudaapi/hazard":              {"cudaapi/cuda", "cudaapi/driver", "cudaapi/internal/callsite", "cudaapi/record", "internal/picture"},
	"cudaapi/hazard/hazardtest":   {"cudaapi/collective", "cudaapi/cuda", "cudaapi/driver", "cudaapi/hazard", "cudaapi/internal/callsite", "cudaapi/mpi", "cudaapi/mpi/launch", "cudaapi/streamsync"},
	"cudaapi/cuda/internal/...":   {"internal/cpp"},
	"cudaapi/streamsync":          {"cudaapi/cuda"},
	"cudaapi/gxf":                 {"cudaapi/cuda", "cudaapi/streamsync", "go.yaml.in/yaml/v3"},
	"cudaapi/collective":          {"cudaapi/cuda", "cudaapi/driver", "cudaapi/internal/...", "cudaapi/record"},
	"cudaapi/symmetric":           {"cudaapi/cuda", "cudaapi/driver", "cudaapi/internal/..."},
	"cudaapi/internal/waits":      {},
	"cudaapi/internal/...":        {"cudaapi/cuda", "cudaapi/driver", "cudaapi/internal/...", "internal/ownfolder", "golang.org/x/sys/unix"},
	"cudaapi/internal/ipctest":    {"cudaapi/cuda", "cudaapi/driver", "cudaapi/sim"},
	"cudaapi/internal/clib":       {"github.com/ebitengine/purego"},
	"cudaapi/internal/unused":     {},
	"cudaapi/internal/headers":    {},
	"cudaapi/internal/hostcxx":    {"internal/ownfolder", "github.com/ebitengine/purego", "golang.org/x/sys/unix"},
	"cudaapi/mpi":                 {"cudaapi/collective", "cudaapi/cuda", "cudaapi/driver", "cudaapi/internal/...", "cudaapi/mpi/waitfor", "cudaapi/record", "cudaapi/symmetric", "golang.org/x/sys/unix"},
	"cudaapi/mpi/waitfor":         {},
	"cudaapi/mpi/internal/...":    {"cudaapi/cuda", "cudaapi/driver", "cudaapi/internal/...", "github.com/ebitengine/purego", "golang.org/x/sys/unix"},
	"cudaapi/mpi/launch":          {},
	"cudaapi/mpi/mpibench": {
		"cudaapi/backend", "cudaapi/collective", "cudaapi/cuda", "cudaapi/internal/...", "cudaapi/mpi",
	},
	"cudaapi/mpi/mpitest": {"cudaapi/cuda", "cudaapi/mpi", "cudaapi/symmetric"},
}
