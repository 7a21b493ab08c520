package evaluator

import (
	"regexp"
	"strings"
)

// hints say what to do about mistakes in calls of package cuda by those who come from other
// languages. $1 is the first part of the mistake in parentheses.
var hints = []struct {
	mistake *regexp.Regexp
	hint    string
}{
	{regexp.MustCompile(`^cannot use (\w+) \(.*\) as cuda\.GridDim value`), "write cuda.Grid($1)"},
	{regexp.MustCompile(`^cannot use (\w+) \(.*\) as cuda\.BlockDim value`), "write cuda.Block($1)"},
	{regexp.MustCompile(`as \*cuda\.Stream value in argument to .*\.(?:Launch|Prepare)$`), "the third argument is the stream: nil for the default one"},
	{regexp.MustCompile(`cannot call (\w+) \(variable of type \*cuda\.Kernel\)`), "$1.Launch(cuda.Grid(blocks), cuda.Block(threads), stream, arguments...) launches it"},
	{regexp.MustCompile(`cannot (?:index|range over|slice) (\w+) \(variable of type \*cuda\.Buffer\)`), "it is device memory: $1.Float32s() and the like copy it to a slice, $1.Slice(i, j) is a part of it"},
	{regexp.MustCompile(`^invalid copy: .* have (\w+) \(variable of type \*cuda\.Buffer\)`), "$1.Upload(slice) and $1.Download(slice) copy"},
	{regexp.MustCompile(`^cannot convert (\w+) \(.*\) to type cuda\.Device$`), "cuda.Get($1) gives a device"},
}

// elementType matches what stands for an element type where a buffer is made.
var elementType = regexp.MustCompile(`^(float|int|uint|complex)(\d+)\)`)

// unnamed matches a name of CUDA's runtime, its driver, CuPy or Numba that is missing.
var unnamed = regexp.MustCompile(`^undefined: (?:cuda\.(?:cuda|cu)?|cuda|cu)([A-Z]\w*|[a-z]+(?:_[a-z]+)*)\b`)

// instead are names of those, and what to write in their place: d is a device, b a buffer,
// s a stream, e an event, k a kernel.
var instead = []struct {
	name   *regexp.Regexp
	advice string
}{
	{regexp.MustCompile(`^(Malloc|MemAlloc|device_array|empty|zeros|Zeros|Array|CuArray|ndarray)$`), "d.Alloc(n, cuda.Float32) allocates a buffer, d.Upload(slice) makes one of a slice"},
	{regexp.MustCompile(`^(MallocAsync|MallocFromPoolAsync|MemAllocAsync)$`), "s.AllocAsync(n, cuda.Float32) allocates in the order of a stream"},
	{regexp.MustCompile(`^(MallocManaged|MemAllocManaged|managed_array)$`), "d.AllocManaged(n, cuda.Float32) allocates managed memory"},
	{regexp.MustCompile(`^(MallocHost|HostAlloc|MemHostAlloc|MemAllocHost|pinned_array)$`), "cuda.AllocHost(n, cuda.Float32) allocates pinned memory"},
	{regexp.MustCompile(`^(HostRegister|MemHostRegister)$`), "cuda.RegisterHost(slice) pins a slice"},
	{regexp.MustCompile(`^(to_device|ToDevice|asarray|MemcpyHtoD|MemcpyHtoDAsync)$`), "d.Upload(slice) makes a buffer of a slice; b.Upload(slice) and b.UploadAsync(slice, s) fill one"},
	{regexp.MustCompile(`^(asnumpy|copy_to_host|MemcpyDtoH|MemcpyDtoHAsync)$`), "b.Float32s() and the like give a slice; b.Download(slice) and b.DownloadAsync(slice, s) fill one"},
	{regexp.MustCompile(`^(MemcpyDtoD|MemcpyDtoDAsync|Memcpy)$`), "cuda.Memcpy(to, from) and cuda.MemcpyAsync(to, from, s) copy between buffers and slices"},
	{regexp.MustCompile(`^(Memset|MemsetAsync|MemsetD\d+)$`), "b.Memset(byte), b.MemsetAsync(byte, s) and b.Fill(value, s) set a buffer"},
	{regexp.MustCompile(`^(MallocArray|Malloc3DArray|Array3DCreate|ArrayCreate|FreeArray)$`), "d.NewArray(cuda.ArrayDesc{Width: w, Height: h, Type: cuda.Float32}) makes an array, a.Upload(slice) fills it, a.Free() frees it"},
	{regexp.MustCompile(`^(MallocPitch|MemAllocPitch)$`), "d.AllocPitch(w, h, cuda.Float32) gives a buffer and its pitch"},
	{regexp.MustCompile(`^Memcpy(3D|3DAsync|2DToArray|2DToArrayAsync|2DFromArray|2DFromArrayAsync|ToArray|ToArrayAsync|FromArray|FromArrayAsync)$`), "cuda.Memcpy3D(to, from, w, h, d) copies a box between arrays and memory, a.Upload(slice) and a.Download(slice) all of an array"},
	{regexp.MustCompile(`^(CreateTextureObject|TexObjectCreate|BindTexture\w*|CreateSurfaceObject|SurfObjectCreate)$`), "cuda.NewTexture(a, cuda.TextureDesc{}) and cuda.NewSurface(a) make a texture and a surface of an array"},
	{regexp.MustCompile(`^(MemGetInfo|mem_info)$`), "d.MemInfo() gives free and total bytes"},
	{regexp.MustCompile(`^(DeviceSynchronize|CtxSynchronize|synchronize|ThreadSynchronize)$`), "d.Synchronize() waits for a device, s.Synchronize() for a stream"},
	{regexp.MustCompile(`^(GetDeviceCount|DeviceGetCount|get_device_count|gpus)$`), "cuda.DeviceCount() counts devices, cuda.Devices() lists them"},
	{regexp.MustCompile(`^(GetDevice|DeviceGet|CtxGetCurrent|select_device|get_current_device)$`), "cuda.CurrentDevice() is the current device, cuda.Get(i) the i-th"},
	{regexp.MustCompile(`^(GetDeviceProperties|DeviceGetAttribute|DeviceGetName)$`), "d.Name(), d.TotalMemory(), d.ComputeCapability() and d.Attribute(attribute) describe a device"},
	{regexp.MustCompile(`^(DeviceCanAccessPeer|DeviceEnablePeerAccess|CtxEnablePeerAccess|DeviceDisablePeerAccess)$`), "d.CanAccessPeer(other), d.EnablePeerAccess(other) and d.DisablePeerAccess(other)"},
	{regexp.MustCompile(`^(StreamCreate\w*|Stream|stream)$`), "d.NewStream() makes a stream, d.NewStream(cuda.NonBlocking) one that does not wait for the default stream"},
	{regexp.MustCompile(`^Stream(Synchronize|Query|Destroy|WaitEvent|WriteValue\d*|WaitValue\d*|BatchMemOp|BeginCapture|EndCapture|IsCapturing|AddCallback)\w*$`), "a stream s has s.Synchronize(), s.Query(), s.WaitEvent(e), s.LaunchHostFunc(f), s.Capture(f), s.WriteValue and s.WaitValue"},
	{regexp.MustCompile(`^(EventCreate\w*|Event|event)$`), "d.NewEvent() makes an event"},
	{regexp.MustCompile(`^Event(Record|Synchronize|Query|Destroy)\w*$`), "an event e has e.Record(s), e.Synchronize(), e.Query() and e.Destroy()"},
	{regexp.MustCompile(`^(EventElapsedTime|event_elapsed_time|elapsed_time)$`), "cuda.Elapsed(start, end) or end.Since(start)"},
	{regexp.MustCompile(`^(Launch|LaunchKernel\w*|LaunchCooperativeKernel)$`), "k.Launch(cuda.Grid(blocks), cuda.Block(threads), s, arguments...), or k.With(cuda.Cooperative()).Launch"},
	{regexp.MustCompile(`^LaunchHostFunc$`), "s.LaunchHostFunc(f)"},
	{regexp.MustCompile(`^Graph(Instantiate|Launch|Create|ExecUpdate|AddKernelNode)\w*$`), "s.Capture(f) records a graph g; g.Instantiate() makes x, and x.Launch(s) runs it"},
	{regexp.MustCompile(`^Ipc\w+$`), "b.IPCHandle() and d.OpenIPC(handle) share a buffer, e.IPCHandle() and d.OpenIPCEvent(handle) an event"},
	{regexp.MustCompile(`^(GetLastError|PeekAtLastError|GetErrorString)$`), "each call returns its error, and an error that a cell does not take fails the cell"},
	{regexp.MustCompile(`^(grid|gridsize|gridDim|blockIdx|blockDim|threadIdx|ThreadIdx|BlockIdx|syncthreads|SyncThreads|syncwarp|shared|atomic|local)$`), "kernels are written in %%kernel cells, with package gpu, or in %%cuda cells"},
	{regexp.MustCompile(`^(jit|Jit|RawKernel|RawModule|ElementwiseKernel|ReductionKernel|Kernel|ModuleLoad\w*|ModuleGetFunction|reduce|vectorize)$`), "%%kernel cells compile Go, %%cuda cells CUDA C++; cuda.Compile(source) and cuda.CompileGo(source) make modules, m.Kernel(name) gives a kernel"},
	{regexp.MustCompile(`^(MemPrefetchAsync|MemAdvise)$`), "b.Prefetch(d, s) and b.Advise(advice, d)"},
	{regexp.MustCompile(`^(Occupancy\w+|FuncGetAttributes|FuncSetAttribute)$`), "k.MaxActiveBlocks(d, block), k.SuggestBlock(d) and k.Resources(d, block)"},
	{regexp.MustCompile(`^(Dim3|dim3)$`), "cuda.Grid(x, y, z) and cuda.Block(x, y, z)"},
	{regexp.MustCompile(`^(Free|FreeHost|FreeAsync|MemFree\w*)$`), "b.Free(), or b.FreeAsync(s) for memory of s.AllocAsync"},
	{regexp.MustCompile(`^(DeviceReset|CtxDestroy)$`), "d.Reset(), or cuda.Reset() for all devices"},
	{regexp.MustCompile(`^(Profiler\w+|profile\w*)$`), "%%timeline draws a cell, with the table of where the time went"},
}

// Advice lists names of other libraries, as patterns, with what to write in their place.
func Advice() (list [][2]string) {
	for _, one := range instead {
		list = append(list, [2]string{one.name.String(), one.advice})
	}
	return list
}

func hintFor(mistake, source string) string {
	if m := unnamed.FindStringSubmatch(mistake); m != nil {
		for _, one := range instead {
			if one.name.MatchString(m[1]) {
				return one.advice
			}
		}
	}
	for _, h := range hints {
		if at := h.mistake.FindStringSubmatchIndex(mistake); at != nil {
			return string(h.mistake.ExpandString(nil, h.hint, mistake, at))
		}
	}
	if m := elementType.FindStringSubmatch(source); m != nil && strings.HasSuffix(mistake, " (type) is not an expression") {
		return "a buffer's element type is cuda." + strings.ToUpper(m[1][:1]) + m[1][1:] + m[2]
	}
	return ""
}
