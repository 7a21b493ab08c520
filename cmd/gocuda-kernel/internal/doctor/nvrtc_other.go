//go:build !linux || (!amd64 && !arm64)

package doctor

import "gocuda/cudaapi/nvidia"

func probeNVRTC() finding { return finding{Missing: nvidia.Available().Error()} }
func probeCUPTI() finding { return finding{Missing: nvidia.Available().Error()} }
