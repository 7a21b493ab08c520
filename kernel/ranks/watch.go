package ranks

import (
	"fmt"
	"time"

	"gocuda/kernel/session"
)

// watch looks after a job until it has ended: it enforces the time limit,
// frees ranks that wait for a lost one, and tells of those that wait long.
func (p *pool) watch(j *job) {
	tick := time.NewTicker(watchTime)
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
			p.stop(j, running, func(r *rank) *session.Error {
				text := fmt.Sprintf("the rank had not ended the cell after %v: it was at %s", j.timeout, describePlace(r.place))
				if r.place.Call != "" {
					text += "\n" + outOfStep
				}
				return newError("Timeout", text)
			})
			if !j.own {
				p.renew()
			}
		case <-tick.C:
			running := p.running(j)
			p.look(running)
			p.free(j, running)
			p.tellWaiting(j, running)
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
			if r.place.Call != "" && r.place.Waited >= lossTime {
				waiting = append(waiting, r)
			}
		}
	}
	p.mu.Unlock()
	if len(waiting) == 0 {
		return
	}
	p.stop(j, waiting, func(r *rank) *session.Error {
		return newError("RankLost", fmt.Sprintf("rank %d was lost (%s) while this rank was at %s", lost.number, lost.lost, describePlace(r.place)))
	})
}

// tellWaiting says once which ranks have waited long for others.
func (p *pool) tellWaiting(j *job, running []*rank) {
	if j.told {
		return
	}
	p.mu.Lock()
	var ended, failed []int
	for _, r := range j.ranks {
		switch result, ok := j.results[r]; {
		case ok && result.Err != nil:
			failed = append(failed, r)
		case ok:
			ended = append(ended, r)
		}
	}
	long := hangTime
	if len(failed) > 0 {
		long = failTime
	}
	for _, r := range running {
		j.told = j.told || r.place.Call != "" && r.place.Waited >= long
	}
	p.mu.Unlock()
	if !j.told {
		return
	}
	text := fmt.Sprintf("%s: some ranks have waited for %v in one call; interrupt the cell to free them\n", j.cell.Name, long)
	text += p.places(running, "is")
	if len(ended) > 0 {
		text += label(ended) + " ended the cell\n"
	}
	for _, r := range failed {
		p.mu.Lock()
		why := j.results[r].Err
		p.mu.Unlock()
		text += fmt.Sprintf("%s failed: %s\n", label([]int{r}), why.Message)
	}
	p.tell(text)
}
