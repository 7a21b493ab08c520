//go:build linux && (amd64 || arm64)

package libmpi

// The standard ABI of MPI 5.0, chapter 20: handles are small integers in
// pointers.
var standardValues = values{
	"MPI_ANY_SOURCE": -1, "MPI_PROC_NULL": -3, "MPI_ANY_TAG": -2, "MPI_UNDEFINED": -32766, "MPI_IN_PLACE": 1,
	"MPI_COMM_TYPE_SHARED": 221, "MPI_TAG_UB": 501,
	"MPI_THREAD_SINGLE": 0, "MPI_THREAD_FUNNELED": 1024, "MPI_THREAD_SERIALIZED": 2048, "MPI_THREAD_MULTIPLE": 4096,

	"MPI_COMM_NULL": 0x100, "MPI_COMM_WORLD": 0x101, "MPI_COMM_SELF": 0x102,
	"MPI_REQUEST_NULL": 0x180, "MPI_INFO_NULL": 0x130, "MPI_ERRORS_RETURN": 0x143,

	"MPI_WIN_MODEL": 605, "MPI_WIN_UNIFIED": 321, "MPI_LOCK_EXCLUSIVE": 301, "MPI_LOCK_SHARED": 302,
	"MPI_MODE_NOCHECK": 1024, "MPI_MODE_NOPRECEDE": 2048, "MPI_MODE_NOPUT": 4096, "MPI_MODE_NOSTORE": 8192, "MPI_MODE_NOSUCCEED": 16384,

	"MPI_BYTE": 0x247, "MPI_INT8_T": 0x240, "MPI_INT16_T": 0x248, "MPI_INT32_T": 0x250, "MPI_INT64_T": 0x258,
	"MPI_UINT8_T": 0x241, "MPI_UINT16_T": 0x249, "MPI_UINT32_T": 0x251, "MPI_UINT64_T": 0x259,
	"MPI_FLOAT": 0x210, "MPI_DOUBLE": 0x214, "MPI_C_FLOAT_COMPLEX": 0x212, "MPI_C_DOUBLE_COMPLEX": 0x216,
	"MPI_C_BOOL": 0x238, "MPI_FLOAT_INT": 0x228, "MPI_DOUBLE_INT": 0x229, "MPI_LONG_INT": 0x22a, "MPI_2INT": 0x22b,

	"MPI_SUM": 0x21, "MPI_MIN": 0x22, "MPI_MAX": 0x23, "MPI_PROD": 0x24, "MPI_BAND": 0x28, "MPI_BOR": 0x29, "MPI_BXOR": 0x2a,
	"MPI_LAND": 0x30, "MPI_LOR": 0x31, "MPI_LXOR": 0x32, "MPI_MINLOC": 0x38, "MPI_MAXLOC": 0x39,
	"MPI_REPLACE": 0x3c, "MPI_NO_OP": 0x3d,
}

var standardClasses = []string{1: "BUFFER", 2: "COUNT", 3: "TYPE", 4: "TAG", 5: "COMM", 6: "RANK", 7: "REQUEST", 8: "ROOT",
	9: "GROUP", 10: "OP", 11: "TOPOLOGY", 12: "DIMS", 13: "ARG", 14: "UNKNOWN", 15: "TRUNCATE", 16: "OTHER", 17: "INTERN",
	18: "PENDING", 19: "IN_STATUS", 20: "ACCESS", 21: "AMODE", 22: "ASSERT", 23: "BAD_FILE", 24: "BASE", 25: "CONVERSION",
	26: "DISP", 27: "DUP_DATAREP", 28: "FILE_EXISTS", 29: "FILE_IN_USE", 30: "FILE", 31: "INFO_KEY", 32: "INFO_NOKEY",
	33: "INFO_VALUE", 34: "INFO", 35: "IO", 36: "KEYVAL", 37: "LOCKTYPE", 38: "NAME", 39: "NO_MEM", 40: "NOT_SAME",
	41: "NO_SPACE", 42: "NO_SUCH_FILE", 43: "PORT", 44: "QUOTA", 45: "READ_ONLY", 46: "RMA_ATTACH", 47: "RMA_CONFLICT",
	48: "RMA_RANGE", 49: "RMA_SHARED", 50: "RMA_SYNC", 51: "SERVICE", 52: "SIZE", 53: "SPAWN", 54: "UNSUPPORTED_DATAREP",
	55: "UNSUPPORTED_OPERATION", 56: "WIN", 57: "RMA_FLAVOR", 58: "PROC_ABORTED", 59: "VALUE_TOO_LARGE", 60: "SESSION",
	61: "ERRHANDLER", 62: "ABI"}

// standard is the ABI of libmpi_abi. What its MPI_Status hides, ask answers.
func standard(bytes func(*status) int, cancelled func(*status) bool) (*abi, error) {
	a, err := newABI("standard", standardValues, standardClasses)
	// int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
	a.source, a.tag = 0, 1
	a.receivedBytes, a.cancelled = bytes, cancelled
	return a, err
}
