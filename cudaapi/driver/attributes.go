package driver

// Attribute is a CUdevice_attribute.
type Attribute int32

// Device attributes, by their CUDA numbers.
const (
	MaxThreadsPerBlock       Attribute = 1
	MaxBlockDimX             Attribute = 2
	MaxBlockDimY             Attribute = 3
	MaxBlockDimZ             Attribute = 4
	MaxGridDimX              Attribute = 5
	MaxGridDimY              Attribute = 6
	MaxGridDimZ              Attribute = 7
	MaxSharedMemoryPerBlock  Attribute = 8 // bytes
	TotalConstantMemory      Attribute = 9 // bytes
	WarpSize                 Attribute = 10
	MaxRegistersPerBlock     Attribute = 12
	ClockRate                Attribute = 13 // kHz
	TextureAlignment         Attribute = 14 // bytes, of memory that a texture reads
	MultiprocessorCount      Attribute = 16
	Integrated               Attribute = 18
	CanMapHostMemory         Attribute = 19
	ComputeMode              Attribute = 20
	ConcurrentKernels        Attribute = 31
	ECCEnabled               Attribute = 32
	PCIBusID                 Attribute = 33
	PCIDeviceID              Attribute = 34
	MemoryClockRate          Attribute = 36 // kHz
	GlobalMemoryBusWidth     Attribute = 37 // bits
	L2CacheSize              Attribute = 38 // bytes
	MaxThreadsPerSM          Attribute = 39
	AsyncEngineCount         Attribute = 40
	UnifiedAddressing        Attribute = 41
	PCIDomainID              Attribute = 50
	TexturePitchAlignment    Attribute = 51 // bytes
	ComputeCapabilityMajor   Attribute = 75
	ComputeCapabilityMinor   Attribute = 76
	StreamPrioritiesSupport  Attribute = 78
	MaxSharedMemoryPerSM     Attribute = 81 // bytes
	ManagedMemory            Attribute = 83
	ConcurrentManagedAccess  Attribute = 89
	CooperativeLaunch        Attribute = 95
	MaxSharedMemoryOptin     Attribute = 97 // bytes
	HostRegisterSupported    Attribute = 99
	MaxBlocksPerSM           Attribute = 106
	MemoryPoolsSupported     Attribute = 115
	MemoryPoolHandleTypes    Attribute = 119 // bit 0: file descriptors
	ClusterLaunch            Attribute = 120
	CanUseStreamWaitValueNOR Attribute = 122
	MemSyncDomainCount       Attribute = 126
)

// P2PAttribute is a CUdevice_P2PAttribute.
type P2PAttribute int32

const (
	PerformanceRank       P2PAttribute = 1 // 0 is the fastest link
	AccessSupported       P2PAttribute = 2
	NativeAtomicSupported P2PAttribute = 3
)

// PoolAttribute is a CUmemPool_attribute.
type PoolAttribute int32

const (
	PoolReuseFollowEventDependencies   PoolAttribute = 1
	PoolReuseAllowOpportunistic        PoolAttribute = 2
	PoolReuseAllowInternalDependencies PoolAttribute = 3
	PoolReleaseThreshold               PoolAttribute = 4 // bytes kept at a synchronisation
	PoolReservedCurrent                PoolAttribute = 5
	PoolReservedHigh                   PoolAttribute = 6
	PoolUsedCurrent                    PoolAttribute = 7
	PoolUsedHigh                       PoolAttribute = 8
)

// FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

const (
	FuncMaxThreadsPerBlock FunctionAttribute = 0
	FuncSharedBytes        FunctionAttribute = 1 // static shared memory, bytes
	FuncConstBytes         FunctionAttribute = 2
	FuncLocalBytes         FunctionAttribute = 3 // per thread
	FuncRegisters          FunctionAttribute = 4 // per thread
	FuncPTXVersion         FunctionAttribute = 5
	FuncBinaryVersion      FunctionAttribute = 6
	FuncMaxDynamicShared   FunctionAttribute = 8 // bytes; settable
)
