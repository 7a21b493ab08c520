package ranks

import (
	"slices"
	"strings"

	"gocuda/kernel/golang/answer"
	"gocuda/kernel/ranks/label"
	"gocuda/kernel/session"
)

// verdicts are what the judges of a rank's cell said, in the order in which they began.
type verdicts []verdict

// verdict is one judge's. text is "" while it has not ended.
type verdict struct{ id, text string }

// add takes note that a judge began, or of its verdict.
func (list verdicts) add(id, text string) verdicts {
	if list.open() {
		list[len(list)-1].text = text
		return list
	}
	return append(list, verdict{id, text})
}

// open says whether a judge has begun and not ended.
func (list verdicts) open() bool { return len(list) > 0 && list[len(list)-1].text == "" }

// endedBy is the error that a rank's cell ended with. Where the rank was stopped, it is the
// reason for that, also if the cell came to its end meanwhile and its judge did not: what a
// judge says after the stop is no verdict.
func (r *rank) endedBy(err *session.Error) *session.Error {
	interrupted := err != nil && err.Name == "Interrupted" || err == nil && r.verdicts.open()
	if r.because != nil && interrupted {
		return r.because
	}
	return err
}

// judgedWrong names what a rank's judge said, among the reasons of all ranks.
const judgedWrong = "Wrong"

// judged makes what ended a rank's cell within a judge that judge's verdict: a judge
// never fails the cell. The caller holds the pool's mu.
func (j *job) judged(rank int) {
	result := j.results[rank]
	if j.ended[rank] = result.Err; result.Err != nil {
		result.Err = nil
		j.results[rank] = result
	}
}

// verdict is what the judges of all ranks said: one verdict for each exercise, wrong
// if any rank's is.
func (j *job) verdict() (list verdicts) {
	seen := map[string]bool{}
	for _, r := range j.ranks {
		for _, v := range j.verdicts[r] {
			if !seen[v.id] && !j.interrupted(v.id) {
				seen[v.id] = true
				list = append(list, verdict{v.id, j.verdictOn(v.id)})
			}
		}
	}
	return list
}

// interrupted says whether the user ended a judge.
func (j *job) interrupted(id string) bool {
	return slices.ContainsFunc(j.ranks, func(r int) bool {
		list := j.verdicts[r]
		return list.open() && list[len(list)-1].id == id && j.ended[r] == nil
	})
}

// wrong says whether a judge of a rank found something wrong, which may have left it out
// of step with others.
func (j *job) wrong() bool {
	return slices.ContainsFunc(j.ranks, func(r int) bool {
		return j.ended[r] != nil || slices.ContainsFunc(j.verdicts[r], func(v verdict) bool { return strings.HasPrefix(v.text, answer.Wrong) })
	})
}

func (j *job) verdictOn(id string) string {
	wrong := dedupe(j.ranks, func(r int) (*session.Error, bool) {
		unsolved := false
		for _, v := range j.verdicts[r] {
			reason, isWrong := strings.CutPrefix(v.text, answer.Wrong)
			switch {
			case v.id != id:
			case v.text == "" && j.ended[r] != nil:
				return withoutRank(reasonOf(j.ended[r]), r), true
			case isWrong:
				return &session.Error{Name: judgedWrong, Traceback: strings.Split(reason, "\n")}, true
			case v.text == answer.Unsolved:
				unsolved = true
			}
		}
		return &session.Error{Name: answer.Unsolved}, unsolved
	})
	if len(wrong) == 0 {
		return answer.Right
	}
	slices.SortStableFunc(wrong, func(a, b shared[*session.Error]) int { return severity(b.value) - severity(a.value) })
	// What came of another rank's fault says less than that.
	judged := slices.ContainsFunc(wrong, func(f shared[*session.Error]) bool { return f.value.Name == judgedWrong })
	wrong = slices.DeleteFunc(wrong, func(f shared[*session.Error]) bool {
		return severity(f.value) < severity(wrong[0].value) || judged && f.value.Name == "Deadlock"
	})
	if slices.ContainsFunc(wrong, func(f shared[*session.Error]) bool { return f.value.Name == answer.Unsolved }) {
		return answer.Unsolved
	}
	var lines []string
	for _, s := range sayings(wrong) {
		lines = append(lines, label.Of(s.ranks())+" "+oneFor(s.words))
		if s.places[0].value != "" {
			lines = append(lines, s.places[0].value)
		}
	}
	return answer.Wrong + strings.Join(lines, "\n")
}

// reasonOf is an error as a judge's reason: its words without colours.
func reasonOf(e *session.Error) *session.Error {
	words := (&session.Error{Traceback: e.Traceback[:min(1, len(e.Traceback))]}).Plain()
	if rest, ok := strings.CutPrefix(words, "Deadlock"); ok {
		words = "deadlock" + rest
	}
	return &session.Error{Name: e.Name, Message: e.Message, Traceback: []string{words}}
}
