// Package libmpi is the transport on an MPI library that is found, loaded and
// told apart at run time: Open MPI, MPICH and its kin (Intel MPI, MVAPICH), and
// the standard ABI of MPI 5. On Linux; elsewhere [Open] gives an error.
package libmpi
