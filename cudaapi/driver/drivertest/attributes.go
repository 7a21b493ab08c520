package drivertest

import "gocuda/cudaapi/driver"

// each has every block write its number plus one.
const each = `extern "C" __global__ void each(unsigned *p) { if (threadIdx.x == 0) p[blockIdx.x] = 0x01010101 * (blockIdx.x + 1); }`

// launched runs the kernel with attributes on n blocks and checks each block's word.
func (e *env) launched(attrs *driver.LaunchAttributes, n uint32) {
	e.Helper()
	f := e.kernel(0, each, "each")
	s, p := e.stream(0, driver.StreamNonBlocking), e.alloc(0, uint64(n)*4, 0)
	l := launchOf(f, s, n, 32, args(p))
	l.Attributes = attrs
	e.ok(e.d.Launch(e.ctx[0], l))
	e.sync(0, s)
	for i := range n {
		e.all(0, p+driver.Ptr(4*i), 4, byte(i+1))
	}
}

// clusters skips the case on devices that have none.
func (e *env) clusters() {
	e.Helper()
	has, err := e.d.DeviceAttribute(driver.ClusterLaunch, 0)
	e.ok(err)
	if has == 0 {
		e.Skip("this device has no clusters of blocks")
	}
}

var launchTests = []test{
	{name: "a launch with empty attributes is a plain launch", run: func(e *env) { e.launched(&driver.LaunchAttributes{}, 3) }},
	{name: "a launch in clusters runs every block", run: func(e *env) {
		e.clusters()
		e.launched(&driver.LaunchAttributes{Cluster: driver.Dim3{X: 2, Y: 1, Z: 1}}, 8)
	}},
	{name: "a grid that is no multiple of its clusters is refused", run: func(e *env) {
		e.clusters()
		f := e.kernel(0, each, "each")
		l := launchOf(f, e.stream(0, driver.StreamNonBlocking), 3, 32, args(e.alloc(0, 64, 0)))
		l.Attributes = &driver.LaunchAttributes{Cluster: driver.Dim3{X: 2, Y: 1, Z: 1}}
		e.code(e.d.Launch(e.ctx[0], l), driver.ErrInvalidClusterSize, driver.ErrInvalidValue)
	}},
	{name: "a cluster of too many blocks is refused", run: func(e *env) {
		e.clusters()
		f := e.kernel(0, each, "each")
		l := launchOf(f, e.stream(0, driver.StreamNonBlocking), 64, 32, args(e.alloc(0, 256, 0)))
		l.Attributes = &driver.LaunchAttributes{Cluster: driver.Dim3{X: 64, Y: 1, Z: 1}}
		e.code(e.d.Launch(e.ctx[0], l), driver.ErrInvalidClusterSize, driver.ErrInvalidValue)
	}},
	{name: "a launch with a priority of its own", run: func(e *env) {
		_, greatest, err := e.d.StreamPriorityRange(e.ctx[0])
		e.ok(err)
		e.launched(&driver.LaunchAttributes{SetPriority: true, Priority: int32(greatest)}, 3)
	}},
	{name: "a launch in the remote memory domain", run: func(e *env) {
		domains, err := e.d.DeviceAttribute(driver.MemSyncDomainCount, 0)
		e.ok(err)
		if domains < 2 {
			e.Skip("this device has one memory domain")
		}
		e.launched(&driver.LaunchAttributes{RemoteDomain: true}, 3)
	}},
	{name: "a programmatic launch that asks for it comes after the one before", run: func(e *env) {
		// griddepcontrol.wait is what cudaGridDependencySynchronize compiles to.
		f := e.kernel(0, `extern "C" __global__ void after(unsigned *p, unsigned n) {
#if __CUDA_ARCH__ >= 900 && !defined(__GOCUDA_SIM__)
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
	for (unsigned i = 0; i < n; i++) p[i] += 1;
}`, "after")
		const n = 4096
		s, p := e.stream(0, driver.StreamNonBlocking), e.alloc(0, 4*n, 0)
		g := e.hold(0, s)
		e.launch(0, f, s, 1, 1, args(p, uint32(n)))
		for range 3 {
			l := launchOf(f, s, 1, 1, args(p, uint32(n)))
			l.Attributes = &driver.LaunchAttributes{Programmatic: true}
			e.ok(e.d.Launch(e.ctx[0], l))
		}
		e.pending(0, s, "programmatic launches behind a gate")
		e.before(0, p, 4*n, 0)
		g.release()
		e.sync(0, s)
		for i := range n {
			if i%512 == 0 {
				e.all(0, p+driver.Ptr(4*i), 1, 4)
			}
		}
	}},
	{name: "attributes beside a cooperative launch", run: func(e *env) {
		f := e.kernel(0, each, "each")
		s, p := e.stream(0, driver.StreamNonBlocking), e.alloc(0, 64, 0)
		l := launchOf(f, s, 2, 32, args(p))
		l.Cooperative, l.Attributes = true, &driver.LaunchAttributes{SetPriority: true}
		e.ok(e.d.Launch(e.ctx[0], l))
		e.sync(0, s)
		e.all(0, p, 4, 1)
		e.all(0, p+4, 4, 2)
	}},
	{name: "a kernel's launch bounds are those of its launches", run: func(e *env) {
		for name, src := range map[string]string{
			"plain":    `extern "C" __global__ void __launch_bounds__(64) k(int *x) { atomicAdd(x, 1); }`,
			"constant": "#define HALF 32\nconstexpr int whole = 2 * HALF;\n" + `extern "C" __global__ __launch_bounds__(whole, 2) void k(int *x) { atomicAdd(x, 1); }`,
		} {
			f := e.kernel(0, src, "k")
			if most, err := e.d.FunctionAttribute(e.ctx[0], f, driver.FuncMaxThreadsPerBlock); err != nil || most != 64 {
				e.Errorf("%s: at most %d threads, %v", name, most, err)
			}
			s, p := e.stream(0, driver.StreamNonBlocking), e.alloc(0, 4, 0)
			e.code(e.d.Launch(e.ctx[0], launchOf(f, s, 1, 65, args(p))), driver.ErrInvalidValue)
			e.launch(0, f, s, 1, 64, args(p))
			e.sync(0, s)
			e.all(0, p, 1, 64)
		}
	}},
	{name: "a kernel's own clusters", run: func(e *env) {
		e.clusters()
		f := e.kernel(0, "#include <cooperative_groups.h>\n"+`extern "C" __global__ void __cluster_dims__(2, 1, 1) k(unsigned *x) { x[blockIdx.x] = 0x01010101 * cooperative_groups::this_cluster().num_blocks(); }`, "k")
		s, p := e.stream(0, driver.StreamNonBlocking), e.alloc(0, 16, 0)
		e.launch(0, f, s, 4, 1, args(p))
		e.sync(0, s)
		e.all(0, p, 16, 2)
		e.code(e.d.Launch(e.ctx[0], launchOf(f, s, 3, 1, args(p))), driver.ErrInvalidClusterSize, driver.ErrInvalidValue)
		l := launchOf(f, s, 4, 1, args(p))
		l.Attributes = &driver.LaunchAttributes{Cluster: driver.Dim3{X: 4, Y: 1, Z: 1}}
		e.code(e.d.Launch(e.ctx[0], l), driver.ErrInvalidClusterSize)
	}},
	{name: "launches with attributes are captured", run: func(e *env) {
		f := e.kernel(0, `extern "C" __global__ void k(char by, unsigned *p, unsigned n, char more) { if (blockIdx.x < n) p[blockIdx.x] += by + more; }`, "k")
		none := e.kernel(0, `extern "C" __global__ void none() {}`, "none")
		for name, set := range map[string]func(l *driver.Launch){
			"cooperative": func(l *driver.Launch) { l.Cooperative = true },
			"priority":    func(l *driver.Launch) { l.Attributes = &driver.LaunchAttributes{SetPriority: true} },
			"both": func(l *driver.Launch) {
				l.Cooperative, l.Attributes = true, &driver.LaunchAttributes{SetPriority: true}
			},
			"empty": func(l *driver.Launch) { l.Attributes = &driver.LaunchAttributes{} },
		} {
			s, p := e.stream(0, driver.StreamNonBlocking), e.alloc(0, 12, 1)
			x := e.instantiated(e.captured(s, func() {
				for _, l := range []*driver.Launch{launchOf(f, s, 3, 1, args([]byte{5}, p, uint32(2), []byte{3})), launchOf(none, s, 2, 32, args())} {
					set(l)
					if err := e.d.Launch(e.ctx[0], l); err != nil {
						e.Errorf("%s: %v", name, err)
					}
				}
			}))
			for range 2 {
				e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
			}
			e.sync(0, s)
			for i, want := range []byte{17, 17, 1} {
				e.all(0, p+driver.Ptr(4*i), 1, want)
				e.all(0, p+driver.Ptr(4*i+1), 3, 1)
			}
		}
	}},
}
