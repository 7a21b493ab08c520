//go:build linux && (amd64 || arm64)

package libmpi

import "unsafe"

// Open MPI's handles are addresses of its variables.
var openMPISymbols = map[string]string{
	"MPI_COMM_WORLD": "ompi_mpi_comm_world", "MPI_COMM_SELF": "ompi_mpi_comm_self", "MPI_COMM_NULL": "ompi_mpi_comm_null",
	"MPI_REQUEST_NULL": "ompi_request_null", "MPI_INFO_NULL": "ompi_mpi_info_null",
	"MPI_ERRORS_RETURN": "ompi_mpi_errors_return",

	"MPI_BYTE": "ompi_mpi_byte", "MPI_INT8_T": "ompi_mpi_int8_t", "MPI_INT16_T": "ompi_mpi_int16_t",
	"MPI_INT32_T": "ompi_mpi_int32_t", "MPI_INT64_T": "ompi_mpi_int64_t", "MPI_UINT8_T": "ompi_mpi_uint8_t",
	"MPI_UINT16_T": "ompi_mpi_uint16_t", "MPI_UINT32_T": "ompi_mpi_uint32_t", "MPI_UINT64_T": "ompi_mpi_uint64_t",
	"MPI_FLOAT": "ompi_mpi_float", "MPI_DOUBLE": "ompi_mpi_double",
	"MPI_C_FLOAT_COMPLEX": "ompi_mpi_c_float_complex", "MPI_C_DOUBLE_COMPLEX": "ompi_mpi_c_double_complex",
	"MPI_C_BOOL": "ompi_mpi_c_bool", "MPI_FLOAT_INT": "ompi_mpi_float_int", "MPI_DOUBLE_INT": "ompi_mpi_double_int",
	"MPI_2INT": "ompi_mpi_2int", "MPI_LONG_INT": "ompi_mpi_long_int",

	"MPI_SUM": "ompi_mpi_op_sum", "MPI_PROD": "ompi_mpi_op_prod", "MPI_MIN": "ompi_mpi_op_min", "MPI_MAX": "ompi_mpi_op_max",
	"MPI_LAND": "ompi_mpi_op_land", "MPI_LOR": "ompi_mpi_op_lor", "MPI_LXOR": "ompi_mpi_op_lxor",
	"MPI_BAND": "ompi_mpi_op_band", "MPI_BOR": "ompi_mpi_op_bor", "MPI_BXOR": "ompi_mpi_op_bxor",
	"MPI_MINLOC": "ompi_mpi_op_minloc", "MPI_MAXLOC": "ompi_mpi_op_maxloc",
	"MPI_REPLACE": "ompi_mpi_op_replace", "MPI_NO_OP": "ompi_mpi_op_no_op",
}

var openMPIValues = values{
	"MPI_ANY_SOURCE": -1, "MPI_PROC_NULL": -2, "MPI_ANY_TAG": -1, "MPI_UNDEFINED": -32766, "MPI_IN_PLACE": 1,
	"MPI_COMM_TYPE_SHARED": 0, "MPI_TAG_UB": 0,
	"MPI_THREAD_SINGLE": 0, "MPI_THREAD_FUNNELED": 1, "MPI_THREAD_SERIALIZED": 2, "MPI_THREAD_MULTIPLE": 3,
	"MPI_WIN_MODEL": 11, "MPI_WIN_UNIFIED": 0, "MPI_LOCK_EXCLUSIVE": 1, "MPI_LOCK_SHARED": 2,
	"MPI_MODE_NOCHECK": 1, "MPI_MODE_NOPRECEDE": 2, "MPI_MODE_NOPUT": 4, "MPI_MODE_NOSTORE": 8, "MPI_MODE_NOSUCCEED": 16,
}

// openMPIClasses are the names of the error classes, less MPI_ERR_. Above 53
// they are those of Open MPI 5, which 4.1 has as far as it has them.
var openMPIClasses = []string{1: "BUFFER", 2: "COUNT", 3: "TYPE", 4: "TAG", 5: "COMM", 6: "RANK", 7: "REQUEST", 8: "ROOT",
	9: "GROUP", 10: "OP", 11: "TOPOLOGY", 12: "DIMS", 13: "ARG", 14: "UNKNOWN", 15: "TRUNCATE", 16: "OTHER", 17: "INTERN",
	18: "IN_STATUS", 19: "PENDING", 20: "ACCESS", 21: "AMODE", 22: "ASSERT", 23: "BAD_FILE", 24: "BASE", 25: "CONVERSION",
	26: "DISP", 27: "DUP_DATAREP", 28: "FILE_EXISTS", 29: "FILE_IN_USE", 30: "FILE", 31: "INFO_KEY", 32: "INFO_NOKEY",
	33: "INFO_VALUE", 34: "INFO", 35: "IO", 36: "KEYVAL", 37: "LOCKTYPE", 38: "NAME", 39: "NO_MEM", 40: "NOT_SAME",
	41: "NO_SPACE", 42: "NO_SUCH_FILE", 43: "PORT", 44: "QUOTA", 45: "READ_ONLY", 46: "RMA_CONFLICT", 47: "RMA_SYNC",
	48: "SERVICE", 49: "SIZE", 50: "SPAWN", 51: "UNSUPPORTED_DATAREP", 52: "UNSUPPORTED_OPERATION", 53: "WIN",
	68: "RMA_RANGE", 69: "RMA_ATTACH", 70: "RMA_FLAVOR", 71: "RMA_SHARED", 74: "PROC_ABORTED",
	75: "PROC_FAILED", 76: "PROC_FAILED_PENDING", 77: "REVOKED", 78: "SESSION", 79: "VALUE_TOO_LARGE"}

// openMPI is the ABI of Open MPI 2 to 5, whose symbols symbol looks up.
func openMPI(symbol func(string) uintptr) (*abi, error) {
	v := values{}
	for name, x := range openMPIValues {
		v[name] = x
	}
	for name, s := range openMPISymbols {
		if p := symbol(s); p != 0 {
			v[name] = int64(p)
		}
	}
	a, err := newABI("Open MPI", v, openMPIClasses)
	// int MPI_SOURCE, MPI_TAG, MPI_ERROR, _cancelled; size_t _ucount;
	a.source, a.tag = 0, 1
	a.cancelled = func(s *status) bool { return s[3] != 0 }
	a.receivedBytes = func(s *status) int { return *(*int)(unsafe.Pointer(&s[4])) }
	return a, err
}
