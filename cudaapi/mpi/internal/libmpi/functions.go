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
	mpiInfoCreate
	mpiInfoSet
	mpiInfoFree
	mpiCommGroup
	mpiGroupIncl
	mpiGroupFree
	mpiWinCreate
	mpiWinAllocate
	mpiWinAllocateShared
	mpiWinCreateDynamic
	mpiWinSharedQuery
	mpiWinAttach
	mpiWinDetach
	mpiWinFree
	mpiWinSetErrhandler
	mpiWinGetAttr
	mpiWinFence
	mpiWinPost
	mpiWinStart
	mpiWinComplete
	mpiWinWait
	mpiWinTest
	mpiWinLock
	mpiWinLockAll
	mpiWinUnlock
	mpiWinUnlockAll
	mpiWinFlush
	mpiWinFlushAll
	mpiWinFlushLocal
	mpiWinFlushLocalAll
	mpiWinSync
	mpiCommCreateGroup
	mpixCommAgree
	mpixCommShrink
	mpixCommRevoke
	mpixCommFailureAck
	mpixCommGetFailed
	mpiGroupSize
	mpiGroupTranslate
	mpiFetchAndOp
	mpiCompareAndSwap
	mpiPut
	mpiGet
	mpiAccumulate
	mpiGetAccumulate
	mpiRput // of the four before, in their order
	mpiRget
	mpiRaccumulate
	mpiRgetAccumulate

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
		"MPI_Info_create", "MPI_Info_set", "MPI_Info_free", "MPI_Comm_group", "MPI_Group_incl", "MPI_Group_free",
		"MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_create_dynamic", "MPI_Win_shared_query",
		"MPI_Win_attach", "MPI_Win_detach", "MPI_Win_free", "MPI_Win_set_errhandler", "MPI_Win_get_attr",
		"MPI_Win_fence", "MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait", "MPI_Win_test",
		"MPI_Win_lock", "MPI_Win_lock_all", "MPI_Win_unlock", "MPI_Win_unlock_all",
		"MPI_Win_flush", "MPI_Win_flush_all", "MPI_Win_flush_local", "MPI_Win_flush_local_all", "MPI_Win_sync",
		"MPI_Comm_create_group", "MPIX_Comm_agree", "MPIX_Comm_shrink", "MPIX_Comm_revoke", "MPIX_Comm_failure_ack", "MPIX_Comm_get_failed", "MPI_Group_size", "MPI_Group_translate_ranks",
		"MPI_Fetch_and_op", "MPI_Compare_and_swap", "MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate",
		"MPI_Rput", "MPI_Rget", "MPI_Raccumulate", "MPI_Rget_accumulate",
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
