package ranks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/mpi"
	"gocuda/cudaapi/mpi/waitfor"
	"gocuda/kernel/display"
	"gocuda/kernel/ranks/label"
	"gocuda/kernel/session"
)

const (
	// An interrupted rank that has not stopped by then is ended: before the notebook's
	// own evaluator would be, and late enough for many ranks on a busy machine.
	rankGrace = 6 * time.Second
	// How long an interrupted cell waits for that.
	stopTime = rankGrace + 500*time.Millisecond
	// What one question about where a rank is may take, and how often it is asked.
	watchTime = 500 * time.Millisecond
	// What it may take when a cell has ended, and the ranks have nothing else to do.
	settleTime = 5 * time.Second
	// How many times as long as the answers took, at least, nobody is asked then: many
	// ranks on few processors have better things to do.
	restFactor = 4
	// How long the loss of a rank waits for others' to be told with it.
	gatherTime = 200 * time.Millisecond
	// How many cells may wait for a rank.
	maxWaiting = 64
	// When a rank is lost, others in an MPI call may find out by themselves for
	// so long; then they are interrupted.
	lossTime = time.Second
	// When a rank waits in one MPI call for so long, that is told once.
	hangTime = 5 * time.Second
	// And when another rank has failed in the same cell, after so long.
	failTime = 2 * time.Second
	// A deadlock is ended so long after it was told.
	stuckTime = 2 * time.Second
	// When nobody is left who could end such a wait, it is ended after so long.
	vainTime = 5 * time.Second
	// How long interrupted ranks may take to make a new world.
	renewTime = 10 * time.Second
)

// member is one rank as the pool sees it: a session in a process of this
// machine, or a remote one.
type member interface {
	session.Evaluator
	Pid() int
	Ended() <-chan struct{} // closed when the process is gone
	Death() string          // why; after Ended
}

// rank is a member of a pool.
type rank struct {
	member
	number   int
	host     string
	queue    chan *job
	value    *display.Bundle // of the cell that runs; the goroutine that runs it has it
	verdicts verdicts        // of that cell's judges; likewise
	stopped  atomic.Bool     // that cell is being ended: what its judges say now is no verdict

	// Under the pool's mu.
	job     *job // that it runs, or nil
	since   time.Time
	place   session.Place  // where it was when last asked
	because *session.Error // what the interrupted cell is to end with, or nil
	lost    string         // why it is gone, or empty
	told    bool           // the cell that it ran tells that it is gone
	lostAt  time.Time
	inventory
}

// receiver takes the rank's outputs: the value of its cell is kept, the rest
// is shown.
func (r *rank) receiver(m *merger) func(session.Output) {
	return func(o session.Output) {
		if o.Kind == session.Value {
			r.value = &o.Bundle
			return
		}
		if o.Kind == session.Verdict {
			if !r.stopped.Load() {
				r.verdicts = r.verdicts.add(o.Parent, o.Text)
			}
			return
		}
		if o.Kind == session.Debug {
			m.debugged(r.number, o.Event)
			return
		}
		m.receive(r.number, o)
	}
}

// ask asks the user in the rank's name.
func (r *rank) ask(h host) func(string, bool) (string, error) {
	return func(prompt string, password bool) (string, error) {
		return h.Input(label.Of([]int{r.number})+" "+prompt, password)
	}
}

// pool is ranks that run cells together.
type pool struct {
	ranks    []*rank
	launcher launcher
	merge    *merger
	host     host
	library  mpi.Library // the ranks'

	mu      sync.Mutex
	jobs    []*job         // that have not ended, in order
	losses  []*rank        // in idle time, that are not told yet
	told    map[string]int // by communicator: mismatches of collectives below this number
	closing bool
}

// host is what a pool needs of the notebook's evaluator.
type host interface {
	Show(session.Output) error
	Judged(id, verdict string) error
	Input(prompt string, password bool) (string, error)
}

// job is one cell on its way through ranks.
type job struct {
	cell     session.Cell
	ranks    []int
	timeout  time.Duration
	begun    time.Time
	done     chan struct{} // closed when every rank has a result
	told     bool          // that ranks wait in a call
	deadlock string        // as it was told
	stuck    time.Time     // since when all that run it are known to be stuck
	own      bool          // the pool's own, which no interrupt is meant for

	// Under the pool's mu.
	results  map[int]session.Result
	times    map[int][2]time.Time // when a rank was asked, and had answered
	value    map[int]display.Bundle
	verdicts map[int]verdicts       // of judges, by rank
	ended    map[int]*session.Error // why a rank's cell ended within a judge
	awaited  bool                   // the notebook's cell does not end before it
	cancel   error                  // why it was interrupted, or nil
}

// newPool makes a pool of started members.
func newPool(members []*rank, l launcher, m *merger, h host) *pool {
	p := &pool{ranks: members, launcher: l, merge: m, host: h}
	for _, r := range members {
		r.queue = make(chan *job, maxWaiting)
		go p.serve(r)
		go p.awaitEnd(r)
	}
	return p
}

// serve runs the cells of one rank, one after another.
func (p *pool) serve(r *rank) {
	for j := range r.queue {
		asked := time.Now()
		result := p.run(r, j)
		answered := time.Now()
		p.merge.end(r.number)
		p.mu.Lock()
		result.Err = r.endedBy(result.Err)
		r.job, r.because = nil, nil
		j.results[r.number], j.times[r.number] = result, [2]time.Time{asked, answered}
		if r.value != nil {
			j.value[r.number] = *r.value
		}
		if j.verdicts[r.number] = r.verdicts; r.verdicts.open() && j.cancel == nil {
			j.judged(r.number)
		}
		last := len(j.results) == len(j.ranks)
		if last {
			p.jobs = slices.DeleteFunc(p.jobs, func(other *job) bool { return other == j })
		}
		settled := !last || j.own || len(p.jobs) > 0 || len(j.ranks) < len(p.ranks)
		failed, _ := j.outcome()
		outOfStep := len(failed) > 0 || j.wrong()
		p.mu.Unlock()
		if last {
			if !settled && p.complete() {
				p.settle(outOfStep)
			}
			p.merge.flush()
			for _, v := range j.verdict() {
				p.host.Judged(v.id, v.text) //nolint:errcheck // text always goes
			}
			close(j.done)
		}
	}
}

func (p *pool) run(r *rank, j *job) session.Result {
	p.mu.Lock()
	cancel, lost := j.cancel, r.lost
	if cancel == nil && lost == "" {
		r.stopped.Store(false)
		r.job, r.since, r.place = j, time.Now(), session.Place{Cell: j.cell.Name}
	}
	p.mu.Unlock()
	switch {
	case lost != "":
		return session.Result{Err: session.NewError("RankLost", "the rank was lost before it came to this cell: "+lost)}
	case cancel != nil:
		return session.Result{Err: session.NewError("Interrupted", "the cell was interrupted before it began")}
	}
	r.value, r.verdicts = nil, nil
	result := r.Execute(j.cell)
	select {
	case <-r.Ended():
		// The last output is followed by the process's end.
		result.Err = p.lossError(r, result.Err)
	default:
		if result.Err != nil && result.Err.Name == "EvaluatorDied" {
			<-r.Ended()
			result.Err = p.lossError(r, result.Err)
		}
	}
	return result
}

// lossError is the error of a rank that died in a cell.
func (p *pool) lossError(r *rank, e *session.Error) *session.Error {
	why := deathOf(r)
	p.mu.Lock()
	place := ""
	if r.place.Line > 0 || r.place.Call != "" {
		place = describePlace(r.place)
	}
	r.told = true
	r.lose(why)
	p.mu.Unlock()
	out := session.NewError("RankLost", "the rank was lost: "+why)
	if place != "" {
		out.Traceback = append(out.Traceback, "last seen at "+place)
	}
	if e != nil && e.Name == "EvaluatorDied" && len(e.Traceback) > 1 {
		out.Traceback = append(out.Traceback, e.Traceback[1:]...)
	}
	return out
}

func deathOf(r *rank) string {
	return strings.Replace(r.Death(), "the evaluator", "it", 1)
}

// lose notes that the rank is gone. The caller holds the pool's mu.
func (r *rank) lose(why string) {
	if r.lost == "" {
		r.lost, r.lostAt = why, time.Now()
	}
}

// awaitEnd waits for the end of a rank.
func (p *pool) awaitEnd(r *rank) {
	<-r.Ended()
	why := deathOf(r)
	p.mu.Lock()
	r.lose(why)
	if r.job == nil && !r.told && !p.closing {
		p.losses = append(p.losses, r)
		if len(p.losses) == 1 {
			time.AfterFunc(gatherTime, p.tellLosses)
		}
	}
	p.mu.Unlock()
}

// tellLosses reports ranks that were lost while they had nothing to do: those of
// a host together.
func (p *pool) tellLosses() {
	p.mu.Lock()
	losses := p.losses
	p.losses = nil
	why := map[string][]int{}
	var order []string
	for _, r := range losses {
		if why[r.lost] == nil {
			order = append(order, r.lost)
		}
		why[r.lost] = append(why[r.lost], r.number)
	}
	p.mu.Unlock()
	for _, text := range order {
		slices.Sort(why[text])
		was := "was"
		if len(why[text]) > 1 {
			was = "were"
		}
		p.tell(fmt.Sprintf("%s %s lost: %s. %%mpi restart starts the ranks again.\n", label.Of(why[text]), was, text))
	}
}

// post hands a cell to ranks and returns while they run it.
func (p *pool) post(cell session.Cell, ranks []int, timeout time.Duration) (*job, error) {
	return p.enqueue(&job{cell: cell, ranks: ranks, timeout: timeout})
}

func (p *pool) enqueue(j *job) (*job, error) {
	ranks := j.ranks
	j.begun, j.done = time.Now(), make(chan struct{})
	j.verdicts, j.ended = map[int]verdicts{}, map[int]*session.Error{}
	j.results, j.value, j.times = map[int]session.Result{}, map[int]display.Bundle{}, map[int][2]time.Time{}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return nil, errors.New("the ranks are being stopped")
	}
	var lost []int
	for _, r := range ranks {
		if p.ranks[r].lost != "" {
			lost = append(lost, r)
		}
	}
	if len(lost) > 0 {
		return nil, p.lostError(lost, ranks)
	}
	for _, r := range ranks { // nobody else fills the queues
		if n := len(p.ranks[r].queue); n == cap(p.ranks[r].queue) {
			return nil, fmt.Errorf("%d cells wait for rank %d already: wait for them, or %%mpi interrupt", n, r)
		}
	}
	for _, r := range ranks {
		p.merge.begin(r)
		p.ranks[r].queue <- j
	}
	p.jobs = append(p.jobs, j)
	go p.watch(j)
	return j, nil
}

// lostError says that ranks are not there to run a cell. The caller holds p.mu.
func (p *pool) lostError(lost, wanted []int) error {
	var reasons []string
	for _, r := range lost {
		reasons = append(reasons, fmt.Sprintf("rank %d was lost: %s", r, p.ranks[r].lost))
	}
	text := strings.Join(reasons, "\n") + "\n%mpi restart starts the ranks again"
	rest := slices.DeleteFunc(slices.Clone(wanted), func(r int) bool { return slices.Contains(lost, r) })
	if len(rest) > 0 {
		text += fmt.Sprintf("; %%%%mpi %s runs on those that are left", label.Set(rest))
	}
	return errors.New(text)
}

// wait waits until a job has ended, or until ctx has and the ranks were given
// time to stop.
func (p *pool) wait(ctx context.Context, j *job) error {
	p.mu.Lock()
	j.awaited = true
	p.mu.Unlock()
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
	}
	p.tell(p.interrupt(context.Cause(ctx)))
	select {
	case <-j.done:
	case <-time.After(stopTime):
		p.tell("some ranks have not stopped: %mpi status shows which\n")
	}
	return context.Cause(ctx)
}

func (p *pool) tell(text string) {
	if text != "" {
		p.host.Show(session.Output{Kind: session.Stderr, Text: text})
	}
}

// interrupt stops what the ranks run, and what waits to be run, and tells
// where the ranks were.
func (p *pool) interrupt(why error) string {
	p.mu.Lock()
	var running []*rank
	for _, r := range p.ranks {
		if r.job != nil && !r.job.own {
			running = append(running, r)
		}
	}
	for _, j := range p.jobs {
		if !j.own {
			j.cancel = why
		}
	}
	p.mu.Unlock()
	p.look(running)
	text := p.places(running, "interrupted")
	if p.inCalls(running) && p.complete() {
		text += outOfStep + "\n"
	}
	if len(running) > 0 {
		p.renew()
	}
	for _, r := range running {
		r.Interrupt()
	}
	return text
}

// What an interrupt, or an error before a collective, leaves behind.
const (
	outOfStep = "Calls of MPI were interrupted" + newWorld
	leftOut   = "A collective was called by some ranks only" + newWorld
	// Wrong values may have come of it.
	mismatched = "Ranks called a collective in different ways" + newWorld
	newWorld   = ", so world is a new communicator now; others that cells made may be out of step, and should be made again"
)

// renew gives the ranks a new world, when they have ended what they run: after
// an interrupt, some may have begun a collective that others never come to. It is
// called before the interrupt, lest the notebook's next cell come first.
func (p *pool) renew() {
	j := &job{cell: session.Cell{Name: "%mpi interrupt", Code: renewCell, Silent: true}, ranks: all(len(p.ranks)), timeout: renewTime, own: true}
	if _, err := p.enqueue(j); err != nil {
		return // a rank is lost, which is told: only a restart helps
	}
	go func() {
		<-j.done
		if j.err() != nil && p.complete() {
			p.tell("The ranks are out of step, and could not make a new world: %mpi restart starts them again\n")
		}
	}()
}

// settle reports collectives of a cell that has ended in which the ranks' calls did not
// match, and gives the ranks a new world if that, or that some failed, has left them out
// of step: the next collective would take what was sent in that cell.
func (p *pool) settle(failed bool) {
	reports, unknown := p.reports(settleTime)
	if len(unknown) > 0 {
		return
	}
	text := p.mismatches(waitfor.Mismatches(reports))
	if text == "" && failed && waitfor.OutOfStep(reports) {
		text = leftOut + "\n"
	} else if text != "" {
		text += mismatched + "\n"
	}
	if text != "" {
		p.renew()
		p.tell(text)
	}
}

// mismatches writes those that were not told yet.
func (p *pool) mismatches(list []waitfor.Mismatch) string {
	var text strings.Builder
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range list {
		if p.told == nil {
			p.told = map[string]int{}
		}
		if m.Number < p.told[m.Comm] {
			continue
		}
		p.told[m.Comm] = m.Number + 1
		fmt.Fprintf(&text, "Mismatch: %s\n", m.Text)
	}
	return text.String()
}

// inCalls says whether one of the ranks is in an MPI call.
func (p *pool) inCalls(ranks []*rank) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(ranks, func(r *rank) bool { return r.place.Call != "" })
}

// places tells where ranks are, those at one place together.
func (p *pool) places(ranks []*rank, what string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := map[string][]int{}
	var order []string
	for _, r := range ranks {
		place := describePlace(r.place)
		if at[place] == nil {
			order = append(order, place)
		}
		at[place] = append(at[place], r.number)
	}
	var text strings.Builder
	for _, place := range order {
		fmt.Fprintf(&text, "%s %s", label.Of(at[place]), what)
		if place != "" {
			text.WriteString(" at " + place)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// describePlace writes a place, such as "In[3]:2, in Barrier".
func describePlace(at session.Place) string {
	text := at.Cell
	if text != "" && at.Line > 0 {
		text += fmt.Sprintf(":%d", at.Line)
	}
	if at.Call != "" {
		if text != "" {
			text += ", "
		}
		text += "in " + at.Call
	}
	return text
}

// look asks ranks where they are, and says how long those took that answered.
func (p *pool) look(ranks []*rank) (took time.Duration) {
	began := time.Now()
	var asked sync.WaitGroup
	for _, r := range ranks {
		asked.Go(func() {
			if at, ok := r.where(watchTime); ok {
				p.mu.Lock()
				r.place = at
				took = max(took, time.Since(began))
				p.mu.Unlock()
			}
		})
	}
	asked.Wait()
	return took
}

// where asks a rank where it is, unless it does not answer in time.
func (r *rank) where(patience time.Duration) (at session.Place, ok bool) {
	answer := make(chan session.Place, 1)
	go func() {
		if at, err := r.Where(); err == nil {
			answer <- at
		}
	}()
	select {
	case at = <-answer:
		return at, true
	case <-time.After(patience):
	case <-r.Ended():
	}
	return at, false
}

// close ends the ranks. It returns when they are gone.
func (p *pool) close() {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		return
	}
	p.closing = true
	p.mu.Unlock()
	p.merge.mute() // what libraries say when they are ended is of no interest
	var ended sync.WaitGroup
	for _, r := range p.ranks {
		ended.Go(func() { r.Close() })
	}
	ended.Wait()
	p.launcher.close(p.ranks)
	p.mu.Lock()
	for _, r := range p.ranks {
		close(r.queue)
	}
	p.mu.Unlock()
	p.merge.close()
}
