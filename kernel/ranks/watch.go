package ranks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gocuda/kernel/ranks/label"
	"gocuda/kernel/session"
)

// watch looks after a job until it has ended: it enforces the time limit,
// frees ranks that wait for a lost one, and reports those that wait long.
func (p *pool) watch(j *job) {
	tick := time.NewTimer(watchTime)
	defer tick.Stop()
	var late <-chan time.Time
	if j.timeout > 0 {
		timer := time.NewTimer(j.timeout)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-j.done:
			return
		case <-late:
			running := p.running(j)
			p.look(running)
			if !j.own {
				p.renew()
			}
			p.stop(j, running, func(r *rank) *session.Error {
				text := fmt.Sprintf("the rank had not ended the cell after %v: it was at %s", j.timeout, describePlace(r.place))
				if r.place.Call != "" {
					text += "\n" + outOfStep
				}
				return session.NewError("Timeout", text)
			})
		case <-tick.C:
			running := p.running(j)
			tick.Reset(max(watchTime, restFactor*p.look(running)))
			p.free(j, running)
			p.explain(j, running)
			if !p.giveUp(j, running) {
				p.tellWaiting(j, running)
			}
		}
	}
}

// running lists the ranks that run a job now.
func (p *pool) running(j *job) []*rank {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*rank
	for _, r := range j.ranks {
		if p.ranks[r].job == j {
			list = append(list, p.ranks[r])
		}
	}
	return list
}

// stop interrupts ranks, with the error that each is to end with.
func (p *pool) stop(j *job, ranks []*rank, why func(*rank) *session.Error) {
	p.mu.Lock()
	for _, r := range ranks {
		if r.job == j && r.because == nil {
			r.because = why(r)
			r.stopped.Store(true)
		}
	}
	p.mu.Unlock()
	for _, r := range ranks {
		r.Interrupt()
	}
}

// free interrupts the ranks that are in an MPI call when another one was lost.
func (p *pool) free(j *job, running []*rank) {
	p.mu.Lock()
	var lost *rank
	for _, r := range p.ranks {
		if r.lost != "" && (lost == nil || r.lostAt.Before(lost.lostAt)) {
			lost = r
		}
	}
	var waiting []*rank
	if lost != nil && time.Since(lost.lostAt) >= lossTime {
		for _, r := range running {
			// Who began to wait later waits for a rank that is left, or the call fails by itself.
			if r.place.Call != "" && r.place.Waited >= lossTime && r.place.Waited >= time.Since(lost.lostAt) {
				waiting = append(waiting, r)
			}
		}
	}
	p.mu.Unlock()
	if len(waiting) == 0 {
		return
	}
	p.stop(j, waiting, func(r *rank) *session.Error {
		return session.NewError("RankLost", fmt.Sprintf("rank %d was lost (%s) while this rank was at %s", lost.number, lost.lost, describePlace(r.place)))
	})
}

// outcome lists the ranks that failed in a job, and those that ended it
// without. The caller holds p.mu.
func (j *job) outcome() (failed, ended []int) {
	for _, r := range j.ranks {
		switch result, ok := j.results[r]; {
		case ok && result.Err != nil:
			failed = append(failed, r)
		case ok:
			ended = append(ended, r)
		}
	}
	return failed, ended
}

// giveUp ends calls of MPI that wait for a rank which failed, and says whether it did so:
// all that run the job are in such calls, and no other cell runs, or can be run, that
// could come to them. It does so at once where that is certain.
func (p *pool) giveUp(j *job, running []*rank) bool {
	p.mu.Lock()
	failed, _ := j.outcome()
	vain := len(failed) > 0 && len(running) > 0 && j.awaited && j.cancel == nil && len(p.jobs) == 1
	long := true
	for _, r := range running {
		vain = vain && r.because == nil && r.place.Call != "" && r.place.Waited >= lookAfter
		long = long && r.place.Waited >= vainTime
	}
	p.mu.Unlock()
	if !vain {
		return false
	}
	pic := p.draw()
	for _, r := range running {
		vain = vain && (long || slices.Contains(pic.Stuck, r.number))
	}
	if !vain {
		return false
	}
	p.renew()
	p.tell(p.mismatches(pic.Mismatches) + outOfStep + "\n")
	p.stop(j, running, func(r *rank) *session.Error {
		return session.NewError(waitedInVain, fmt.Sprintf("%s failed while this rank was at %s", named(failed), describePlace(r.place)))
	})
	return true
}

// explain names a deadlock among the ranks of a job, as soon as one is certain, and
// ends it when nobody can come to it any more. Where a rank has failed, tellWaiting
// and giveUp do so.
func (p *pool) explain(j *job, running []*rank) {
	p.mu.Lock()
	failed, _ := j.outcome()
	wait := len(failed) == 0 && !j.own && j.cancel == nil
	var longest time.Duration
	young := false // a rank in a call does not say yet where
	for _, r := range p.ranks {
		wait = wait && r.lost == ""
	}
	for _, r := range running {
		if r.place.Call != "" {
			longest = max(longest, r.place.Waited)
			young = young || r.place.Waited < lookAfter
		}
		wait = wait && r.because == nil
	}
	p.mu.Unlock()
	if !wait || longest < lookAfter || young && longest < 2*lookAfter {
		return
	}
	pic := p.draw()
	all := len(running) > 0
	for _, r := range running {
		all = all && slices.Contains(pic.Stuck, r.number)
	}
	p.mu.Lock()
	vain := all && j.awaited && len(p.jobs) == 1 && j.cancel == nil
	p.mu.Unlock()
	if verdict := pic.verdict(); verdict != "" && verdict != j.deadlock {
		j.deadlock, j.told = verdict, true
		p.mismatches(pic.Mismatches) // are told herewith
		how := "interrupt the cell to free them"
		if vain {
			how += fmt.Sprintf(", or wait: after %v they are freed", stuckTime)
		}
		p.tell(fmt.Sprintf("%s: ranks wait for something that cannot come; %s\n%s%s", j.cell.Name, how, pic.table(), verdict))
	}
	switch {
	case !vain:
		j.stuck = time.Time{}
	case j.stuck.IsZero():
		j.stuck = time.Now()
	case time.Since(j.stuck) >= stuckTime:
		p.renew()
		p.tell(outOfStep + "\n")
		why := strings.TrimPrefix(strings.TrimSpace(pic.verdict()), "Deadlock: ")
		p.stop(j, running, func(r *rank) *session.Error {
			return session.NewError("Deadlock", why+"\nthis rank was at "+describePlace(r.place))
		})
	}
}

// waitedInVain names the error of a rank whose wait was ended since another had
// failed.
const waitedInVain = "WaitedInVain"

// tellWaiting says once which ranks have waited long for others.
func (p *pool) tellWaiting(j *job, running []*rank) {
	if j.told {
		return
	}
	p.mu.Lock()
	failed, ended := j.outcome()
	vain := len(failed) > 0 && j.awaited
	long := hangTime
	if len(failed) > 0 {
		long = failTime
	}
	for _, r := range running {
		j.told = j.told || r.place.Call != "" && r.place.Waited >= long
	}
	for _, r := range p.ranks {
		j.told = j.told && r.lost == "" // then they are being freed
	}
	p.mu.Unlock()
	if !j.told {
		return
	}
	how := "interrupt the cell to free them"
	if vain {
		how += fmt.Sprintf(", or wait: after %v they are freed if no other rank can join them", vainTime)
	}
	text := fmt.Sprintf("%s: some ranks have waited for %v in one call; %s\n", j.cell.Name, long, how)
	pic := p.draw()
	text += pic.table() + pic.verdict()
	if len(ended) > 0 {
		text += label.Of(ended) + " ended the cell\n"
	}
	for _, r := range failed {
		p.mu.Lock()
		why := j.results[r].Err
		p.mu.Unlock()
		text += fmt.Sprintf("%s failed: %s\n", label.Of([]int{r}), why.Message)
	}
	p.tell(text)
}
