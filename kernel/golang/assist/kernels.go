package assist

import (
	"go/token"
	"go/types"

	"gocuda/cudaapi/gokernel"
)

const gpuPath = "gocuda/cudaapi/gpu"

// kernelScope is what the Go of a kernel can refer to: what cells can, and package gpu.
type kernelScope struct{ Scope }

func (s kernelScope) Import(path string) (*types.Package, error) {
	if path == gpuPath {
		return gokernel.Import(path)
	}
	return s.Scope.Import(path)
}

func (s kernelScope) Names() []types.Object {
	list := s.Scope.Names()
	if p, err := s.Import(gpuPath); err == nil {
		list = append(list, types.NewPkgName(token.NoPos, nil, "gpu", p))
	}
	return list
}
