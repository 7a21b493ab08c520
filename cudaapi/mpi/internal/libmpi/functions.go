//go:build linux && (amd64 || arm64)

package libmpi

// function is one of MPI's, by its place in functions.
type function int

const (
	mpiInitThread function = iota
	mpiInitialized
	mpiFinalized
	mpiFinalize
	mpiQueryThread
	mpiAbort
	mpiGetLibraryVersion
	mpiAbiGetVersion
	mpixQueryCUDA
	mpixGPUQuery
	mpiErrorClass
	mpiErrorString
	mpiCommRank
	mpiCommSize
	mpiCommDup
	mpiCommSplit
	mpiCommSplitType
	mpiCommFree
	mpiCommSetErrhandler
	mpiCommGetAttr
	mpiTypeContiguous
	mpiTypeStruct
	mpiTypeResized
	mpiTypeCommit
	mpiTypeFree
	mpiTest
	mpiCancel
	mpiTestCancelled
	mpiIprobe
	mpiImprobe
	mpiMrecv
	mpiIbarrier

	// From here on each has a variant for large counts, at the same distance.
	mpiGetCount
	mpiIsend
	mpiIssend
	mpiIrecv
	mpiImrecv
	mpiIbcast
	mpiIreduce
	mpiIallreduce
	mpiIgather
	mpiIgatherv
	mpiIscatter
	mpiIscatterv
	mpiIallgather
	mpiIallgatherv
	mpiIalltoall
	mpiIalltoallv
	mpiIscan
	mpiIexscan
	mpiIreduceScatter
	counting // how many there are up to here

	large = counting - mpiGetCount // from a function to its variant for large counts
)

var functions = func() []string {
	names := []string{"MPI_Init_thread", "MPI_Initialized", "MPI_Finalized", "MPI_Finalize", "MPI_Query_thread", "MPI_Abort",
		"MPI_Get_library_version", "MPI_Abi_get_version", "MPIX_Query_cuda_support", "MPIX_GPU_query_support",
		"MPI_Error_class", "MPI_Error_string",
		"MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Comm_free",
		"MPI_Comm_set_errhandler", "MPI_Comm_get_attr",
		"MPI_Type_contiguous", "MPI_Type_create_struct", "MPI_Type_create_resized", "MPI_Type_commit", "MPI_Type_free",
		"MPI_Test", "MPI_Cancel", "MPI_Test_cancelled", "MPI_Iprobe", "MPI_Improbe", "MPI_Mrecv", "MPI_Ibarrier",
		"MPI_Get_count", "MPI_Isend", "MPI_Issend", "MPI_Irecv", "MPI_Imrecv",
		"MPI_Ibcast", "MPI_Ireduce", "MPI_Iallreduce", "MPI_Igather", "MPI_Igatherv", "MPI_Iscatter", "MPI_Iscatterv",
		"MPI_Iallgather", "MPI_Iallgatherv", "MPI_Ialltoall", "MPI_Ialltoallv", "MPI_Iscan", "MPI_Iexscan",
		"MPI_Ireduce_scatter"}
	for _, name := range names[mpiGetCount:] {
		names = append(names, name+"_c")
	}
	return names
}()

// String is the function's name in the standard.
func (f function) String() string {
	if f >= counting {
		f -= large
	}
	return functions[f]
}
