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
	made   map[string]*ncclPart
	own    string   // this rank's devices in the latest call,
	latest string   // and the key of it
	order  []string // in which they were made, the same at all ranks
	apart  bool     // the ranks are on several hosts
}

func ncclVersion() string {
	lib, err := openNCCL()
	if err != nil {
		return err.Error()
	}
	return lib.Version() + " (" + lib.Path() + ")"
}

var errNotReal = errors.New("the devices are simulated")

// openNCCL is the library, if there is one for the devices. Tests have their own.
var openNCCL = func() (nccl.Library, error) {
	if info, err := cuda.Backend(); err != nil || info.Name != "nvidia" {
		return nil, errors.Join(errNotReal, err)
	}
	return nccl.Open()
}

// comms gives the members for these buffers, made at first use, or says why
// there are none.
// With again, the other ranks' devices are taken to be those of the latest call, if this
// rank's are.
func (n *ncclCache) comms(g *Group, bufs []*cuda.Buffer, op cuda.ReduceOp, again bool) (*ncclPart, error) {
	if _, err := openNCCL(); errors.Is(err, errNotReal) {
		return nil, err
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
	p := n.made[key]
	if p == nil {
		if n.made == nil {
			n.made = map[string]*ncclPart{}
		}
		n.order = append(n.order, key)
		p = g.newNCCLPart(bufs)
		n.made[key] = p
	}
	if p.why != nil {
		return nil, p.why
	}
	return p, nil
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

// close destroys one communicator after the other, in the same order at all
// ranks: for each, NCCL may wait for the others to do so.
func (n *ncclCache) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, key := range n.order {
		errs = append(errs, n.made[key].close())
	}
	n.made, n.order = nil, nil
	return errors.Join(errs...)
}

// agree learns whether all ranks have NCCL and devices of their own, and the
// communicator's id from rank 0.
func (g *Group) agree(lib nccl.Library, missing error, devices []*cuda.Device) (nccl.ID, error) {
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
