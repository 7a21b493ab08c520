package collective

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/internal/nccl"
)

// ncclCache holds a communicator for each choice of devices.
type ncclCache struct {
	mu     sync.Mutex
	made   map[string][]ncclMember
	wrong  map[string]error
	own    string   // this rank's devices in the latest call,
	latest string   // and the key of it
	order  []string // in which they were made, the same at all ranks
	apart  bool     // the ranks are on several hosts
}

// ncclMember is one of this process's members of a communicator.
type ncclMember struct {
	*nccl.Comm
	lane *ipc.Lane // for callers that give no streams
}

func ncclVersion() string {
	lib, err := nccl.Open()
	if err != nil {
		return err.Error()
	}
	return lib.Version() + " (" + lib.Path() + ")"
}

var errNotReal = errors.New("the devices are simulated")

// comms gives the members for these buffers, made at first use, or says why
// there are none.
// With again, the other ranks' devices are taken to be those of the latest call, if this
// rank's are.
func (n *ncclCache) comms(g *Group, bufs []*cuda.Buffer, op cuda.ReduceOp, again bool) ([]ncclMember, error) {
	if info, err := cuda.Backend(); err != nil || info.Name != "nvidia" {
		return nil, errors.Join(errNotReal, err)
	}
	if !nccl.Can(op, bufs[0].Type()) {
		return nil, fmt.Errorf("it has no %s of %s", op, bufs[0].Type())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	key, err := n.key(g, bufs, again)
	if err != nil {
		return nil, err
	}
	if c, ok := n.made[key]; ok {
		return c, n.wrong[key]
	}
	if n.made == nil {
		n.made, n.wrong = map[string][]ncclMember{}, map[string]error{}
	}
	n.order = append(n.order, key)
	n.made[key], n.wrong[key] = n.make(g, bufs)
	return n.made[key], n.wrong[key]
}

// key is the choice of devices: of all ranks, for a communicator is made by all of them
// together, and each must learn that another one has changed its devices.
func (n *ncclCache) key(g *Group, bufs []*cuda.Buffer, again bool) (string, error) {
	own, twice := "", -1
	seen := map[*cuda.Device]bool{}
	for _, b := range bufs {
		if seen[b.Device()] {
			twice = b.Device().Ordinal()
		}
		seen[b.Device()] = true
		own += fmt.Sprint(b.Device().Ordinal(), " ")
	}
	var wrong error
	if twice >= 0 {
		wrong = fmt.Errorf("two members are on device %d, and NCCL wants a device for each", twice)
	}
	if g.ranks == nil {
		return own, wrong
	}
	if again && own == n.own {
		return n.latest, wrong
	}
	all, err := handshake.Agree(handshake.Over(g.ranks, handshake.TagNCCL), sha256.Sum256([]byte(own)), wrong)
	n.own, n.latest = own, fmt.Sprintf("%x", all)
	return n.latest, err
}

// make makes a communicator. Whether it can be had is decided by all ranks
// together, so that all choose alike.
func (n *ncclCache) make(g *Group, bufs []*cuda.Buffer) ([]ncclMember, error) {
	lib, err := nccl.Open()
	var devices []*cuda.Device
	for _, b := range bufs {
		devices = append(devices, b.Device())
	}
	var comms []*nccl.Comm
	if g.ranks != nil {
		var id nccl.ID
		if id, err = g.agree(lib, err, devices); err == nil {
			err = ipc.Allocating(func() (err error) {
				comms, err = lib.InitRanks(devices, g.ranks.Rank()*len(bufs), g.ranks.Size()*len(bufs), id)
				return err
			})
		}
	} else if err == nil {
		err = ipc.Allocating(func() (err error) {
			comms, err = lib.InitAll(devices)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	members := make([]ncclMember, len(comms))
	for i, c := range comms {
		members[i].Comm = c
		if members[i].lane, err = ipc.NewLane(devices[i], false); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// run queues an operation on the callers' streams; without streams on the
// members' own, and waits.
func (n *ncclCache) run(k planKey, op cuda.ReduceOp, members []ncclMember, bufs []*cuda.Buffer, streams []*cuda.Stream) error {
	lib, err := nccl.Open()
	if err != nil {
		return err
	}
	wait := streams == nil
	if wait {
		for _, m := range members {
			if err := m.lane.Follow(nil); err != nil {
				return err
			}
			streams = append(streams, m.lane.Stream)
		}
	}
	err = ipc.Allocating(func() error {
		return lib.Group(func() error {
			for i, m := range members {
				var err error
				if k.broadcast {
					err = m.Broadcast(bufs[i], bufs[i], k.root, streams[i])
				} else {
					err = m.AllReduce(bufs[i], bufs[i], op, streams[i])
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil || !wait {
		return err
	}
	for i, m := range members {
		if err := streams[i].Synchronize(); err != nil {
			return errors.Join(err, m.AsyncError())
		}
	}
	return nil
}

// close destroys one communicator after the other, in the same order at all
// ranks: for each, NCCL may wait for the others to do so.
func (n *ncclCache) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, key := range n.order {
		for _, m := range n.made[key] {
			errs = append(errs, m.lane.Stream.Synchronize(), ipc.Allocating(m.Destroy), m.lane.Close())
		}
	}
	n.made, n.wrong, n.order = nil, nil, nil
	return errors.Join(errs...)
}

// agree learns whether all ranks have NCCL and devices of their own, and the
// communicator's id from rank 0.
func (g *Group) agree(lib *nccl.Library, missing error, devices []*cuda.Device) (nccl.ID, error) {
	var id nccl.ID
	if missing == nil && g.ranks.Rank() == 0 {
		id, missing = lib.NewID()
	}
	uuids := make([][48]byte, len(devices))
	for i, d := range devices {
		u, err := d.UUID()
		if err != nil {
			missing = err
		}
		copy(uuids[i][:], u)
	}
	over := handshake.Over(g.ranks, handshake.TagNCCL)
	hosts, err := handshake.Gather(over, ipc.Host())
	if err != nil {
		return id, err
	}
	for _, h := range hosts {
		g.nccl.apart = g.nccl.apart || h != hosts[0]
	}
	ids, err := handshake.Agree(over, id, missing)
	if err != nil {
		return id, err
	}
	seen := map[[48]byte]int{}
	for i := range devices {
		each, err := handshake.Gather(over, uuids[i])
		if err != nil {
			return id, err
		}
		for r, u := range each {
			if other, ok := seen[u]; ok {
				missing = fmt.Errorf("ranks %d and %d share a device (%s), and NCCL wants one for each member", other, r, handshake.Text(u[:]))
			}
			seen[u] = r
		}
	}
	return ids[0], missing
}
