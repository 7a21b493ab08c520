// Package trace writes down when what a program queues on devices ran: copies,
// kernels, fills, host functions, waits and messages, of this process or of all
// ranks, and says where the time went.
//
// [Start] begins and [Stop] ends it; between them the program runs as it is. Times
// come from what the driver can say about itself ([driver.Tracer]): CUPTI's activity
// records on GPUs, the modelled clock on simulated devices. Where CUPTI cannot be
// used they come from events around each operation; a graph is one box then, and
// work behind an event's record may begin some microseconds later.
package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"gocuda/cudaapi/internal/callsite"
)

// Kinds of boxes.
const (
	Kernel       = "kernel"
	Copy         = "copy"
	Fill         = "fill"
	HostFunction = "host function"
	WriteValue   = "write value"
	Graph        = "graph"       // the span of the boxes that are Of it
	StreamWait   = "stream wait" // for an event, or for memory to change
	HostWait     = "host wait"   // in a synchronizing call
	Message      = "message"     // a call, or from an immediate one to its wait
	Collective   = "collective"
)

// Place is a line of a program: of a cell such as "In[3]", or of a file such as "main.go".
// As text it is "In[3], line 2", or "main.go:14".
type Place = callsite.Place

// Box is one piece of work, or a wait. Times are nanoseconds on the timeline's
// clock.
type Box struct {
	ID     int    `json:"id"` // from 1, within its rank
	Rank   int    `json:"rank"`
	Device int    `json:"device"` // -1: the host
	Lane   string `json:"lane"`   // a stream, or the host
	Kind   string `json:"kind"`
	Name   string `json:"name"`           // a kernel's, or what was copied where, or the call
	Place  Place  `json:"place,omitzero"` // in the program, if it is known
	Bytes  uint64 `json:"bytes,omitempty"`
	// Issued is when the host queued it.
	Issued time.Duration `json:"issued"`
	Begin  time.Duration `json:"begin"`
	End    time.Duration `json:"end"`
	// After are the boxes of its rank that it waited for, besides what is before it in
	// its lane.
	After []int `json:"after,omitempty"`
	Of    int   `json:"of,omitempty"` // the launch of the graph that it is part of
	// Library says that a package of this project queued it to carry out a message.
	Library bool `json:"library,omitempty"`
	// Peers are what a message waited for at other ranks.
	Peers []Peer `json:"peers,omitempty"`

	message *meeting
	wall    [2]time.Duration // of a message: begin and end by the system's clock
	prev    int              // the box before it in its lane
	carries int              // the message in a stream's order that it carries out
	call    string           // of the API
}

// Peer is a box of another rank.
type Peer struct {
	Rank int `json:"rank"`
	ID   int `json:"id"`
}

// Duration is how long the box lasts.
func (b *Box) Duration() time.Duration { return b.End - b.Begin }

// Rate is its bytes per second; zero if it moves none or took no time, and for messages,
// which wait for others.
func (b *Box) Rate() float64 { return perSecond(b.Kind, b.Bytes, b.Duration()) }

// Timeline is what ran, and when.
type Timeline struct {
	Title string `json:"title"`
	// Clock says what the times are: "CUPTI", "events" or a model.
	Clock    string `json:"clock"`
	Modelled bool   `json:"modelled,omitempty"`
	// Begin and End are the host's times of Start and Stop.
	Begin time.Duration `json:"begin"`
	End   time.Duration `json:"end"`
	Boxes []Box         `json:"boxes"` // by Begin
	// Left counts operations that are not among the boxes, since there were more than
	// can be kept; Running those that were not done when the trace ended; Untimed
	// those whose times the clock does not tell.
	Left    int `json:"left,omitempty"`
	Running int `json:"running,omitempty"`
	Untimed int `json:"untimed,omitempty"`
	// Ranks that it has parts of, in order; none if it is of one process.
	Ranks []int `json:"ranks,omitempty"`
	// Notes are what a reader should know of the times.
	Notes []string `json:"notes,omitempty"`

	Host string `json:"host,omitempty"` // which machine's monotonic clock it is

	begun  time.Duration    // when the trace began, by the machine's clock
	sealed time.Duration    // when it was encoded
	asked  [2]time.Duration // see Between

	parts map[who]bool // launches of graphs whose boxes are known
}

// Span is the time from the first box's begin to the last one's end, or from Start to
// Stop where there are no boxes.
func (t *Timeline) Span() (begin, end time.Duration) {
	if len(t.Boxes) == 0 {
		return t.Begin, t.End
	}
	begin, end = t.Boxes[0].Begin, t.Boxes[0].End
	for i := range t.Boxes {
		begin, end = min(begin, t.Boxes[i].Begin), max(end, t.Boxes[i].End)
	}
	return begin, end
}

// Between says of a timeline that was decoded when this process asked for it, before it
// began, and when it had the answer: by that, [Merge] compares the machines' clocks.
func (t *Timeline) Between(asked, answered time.Time) {
	t.asked = [2]time.Duration{now() - time.Since(asked), now() - time.Since(answered)}
}

// sort puts the boxes in order.
func (t *Timeline) sort() {
	slices.SortStableFunc(t.Boxes, func(a, b Box) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.ID, b.ID))
	})
}

// Encode writes a timeline as [Decode] reads it.
func (t *Timeline) Encode() ([]byte, error) {
	w := wire{Timeline: t, Begun: t.begun, Sealed: now()}
	for i := range t.Boxes {
		w.Messages = append(w.Messages, t.Boxes[i].message)
		w.Prev = append(w.Prev, t.Boxes[i].prev)
		w.Walls = append(w.Walls, t.Boxes[i].wall)
	}
	return json.Marshal(w)
}

// Decode reads what Encode wrote.
func Decode(data []byte) (*Timeline, error) {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	for i := range w.Boxes {
		if i < len(w.Messages) && i < len(w.Prev) && i < len(w.Walls) {
			w.Boxes[i].message, w.Boxes[i].prev, w.Boxes[i].wall = w.Messages[i], w.Prev[i], w.Walls[i]
		}
	}
	w.begun, w.sealed = w.Begun, w.Sealed
	return w.Timeline, nil
}

// wire is a timeline with what only this package needs to know.
type wire struct {
	*Timeline
	Messages []*meeting         `json:"messages"`
	Prev     []int              `json:"prev"`
	Walls    [][2]time.Duration `json:"walls"`
	Begun    time.Duration      `json:"begun"`
	Sealed   time.Duration      `json:"sealed"`
}

// machine names the machine whose monotonic clock this process reads.
func machine() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, _ := os.Hostname()
		return name
	}
	clocks, _ := os.Readlink("/proc/self/ns/time") // containers may have their own
	return strings.TrimSpace(string(id)) + " " + clocks
}

// handle is how a stream without a name is called.
var handle = regexp.MustCompile(`^stream 0x[0-9a-f]+$`)

// NameStreams calls the streams whose lanes are called by a handle, as in "stream 0x3f",
// by their names in the map, and numbers the others.
func (t *Timeline) NameStreams(names map[string]string) {
	names = maps.Clone(names)
	if names == nil {
		names = map[string]string{}
	}
	count := 0
	for i := range t.Boxes {
		b := &t.Boxes[i]
		if names[b.Lane] == "" && handle.MatchString(b.Lane) {
			count++
			names[b.Lane] = fmt.Sprintf("stream %d", count)
		}
		if n := names[b.Lane]; n != "" {
			b.Lane = n
		}
	}
}
