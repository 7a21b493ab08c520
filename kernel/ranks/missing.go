package ranks

import "regexp"

// Names that MPI, mpi4py or other bindings have and package mpi has not, or not under
// that name, and what to write in their place.
var missing = []struct {
	name   *regexp.Regexp
	advice string
}{
	{regexp.MustCompile(`(?i)^comm_?world$`), "the communicator of all ranks is world, or mpi.World()"},
	{regexp.MustCompile(`(?i)^comm_?self$`), "the communicator of one rank is mpi.Self()"},
	{regexp.MustCompile(`(?i)^(get|comm)_?rank$`), "a communicator c has c.Rank(); in cells there is the variable rank as well"},
	{regexp.MustCompile(`(?i)^(get|comm)_?size$`), "a communicator c has c.Size(); in cells there is the variable size as well"},
	{regexp.MustCompile(`(?i)^get_?(count|source|tag|elements)$`), "mpi.Status has the fields Source, Tag and Bytes"},
	{regexp.MustCompile(`(?i)win|^put$|^get$|accumulate|fence|lock|^rma`), "windows are a communicator's: w := must(c.WinAllocate(&slice, n)) or c.WinCreate(slice), then w.Put, w.Get, w.Accumulate, and w.Fence or w.Lock and w.Unlock"},
	{regexp.MustCompile(`(?i)file`), "a communicator opens files: f := must(c.FileOpen(path, mpi.FileRead|mpi.FileWrite|mpi.FileCreate)), then f.SetView, f.ReadAtAll, f.WriteAtAll and their relatives"},
	{regexp.MustCompile(`(?i)inter_?comm|inter_?merge`), "c.IntercommCreate makes a communicator of two groups, with Send, Recv, Bcast, Allreduce and Merge"},
	{regexp.MustCompile(`(?i)spawn|accept|connect`), "no ranks are added: start all at once, and divide them with Split"},
	{regexp.MustCompile(`(?i)neighbou?r|graph`), "DistGraphCreateAdjacent, DistGraphCreate and CartCreate make communicators with neighbors; Neighbors names them, and NeighborAlltoall, NeighborAllgather and their relatives send to all of them"},
	{regexp.MustCompile(`(?i)err_?handler|errors_?(return|are)`), "there are no error handlers: each call returns an error, and an error that a cell does not take ends it"},
	{regexp.MustCompile(`(?i)group|^(incl|excl)$`), "a group is a slice of ranks, c.Group(), with Union, Intersection and Difference; CreateGroup makes a communicator of one, Create of a list, Split one of each color"},
	{regexp.MustCompile(`(?i)vector|contiguous|indexed|struct|subarray|commit|^type_?`), "elements that lie apart are an mpi.Vector or an mpi.Subarray; structs and arrays are sent as they are"},
	{regexp.MustCompile(`(?i)attach|detach`), "Bsend needs no buffer to be attached"},
	{regexp.MustCompile(`(?i)^(int|float|double|char|byte|long)$`), "a buffer knows its type: no datatype is given"},
	{regexp.MustCompile(`(?i)^(psend|precv|partitioned|pready)`), "messages in parts are made by c.PsendInit and c.PrecvInit; then p.Start, p.Pready(part), p.Parrived(part), p.Wait"},
}

// Advice lists names of MPI's bindings, as patterns, with what to write in their place.
func Advice() (list [][2]string) {
	for _, one := range missing {
		list = append(list, [2]string{one.name.String(), one.advice})
	}
	return list
}

// absent is what the ranks say of a name that package mpi, or a communicator, has not.
var absent = regexp.MustCompile(`undefined: mpi\.(\w+)|type \*?mpi\.\w+ has no field or method (\w+)\)`)

// instead is what to write for a name that an error says to be missing; "" if that is
// not known.
func instead(message string) string {
	m := absent.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	for _, one := range missing {
		if one.name.MatchString(m[1] + m[2]) {
			return one.advice
		}
	}
	return ""
}
