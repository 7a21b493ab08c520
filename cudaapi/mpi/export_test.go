package mpi

// Crowded looks again whether this host has more ranks than processors.
func Crowded() (bool, error) {
	w := World().w
	w.spins, w.yields = spins, yields
	err := w.lookForCrowds()
	return w.spins == spinsCrowded, err
}
