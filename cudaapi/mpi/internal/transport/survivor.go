package transport

// Mortal is what a Comm may be besides, if its transport learns that a rank ended without
// Finalize. A library that ends all ranks itself does not.
type Mortal interface {
	// Lost is closed when one of the communicator's ranks is lost; Loss then says which
	// of the world's, and how, and is nil before.
	Lost() <-chan struct{}
	Loss() error
}

// Survivor is what a Comm may be besides, if the ranks that are left can go on.
type Survivor interface {
	// Agree tells whether all ranks that live say yes, and Shrink makes a communicator of
	// them. Both block until all of them have called it, and give the same at all.
	Agree(yes bool) (bool, error)
	Shrink() (Comm, error)
	// Failed are the ranks of the communicator that are known to be lost.
	Failed() ([]int, error)
	// Revoke ends what is under way on the communicator, at all ranks, and what is begun
	// there later, but for Agree and Shrink. It does not wait for the others.
	Revoke() error
}
