package notebook

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Exercise is a task of a notebook: cells tagged exercise:ID are skeletons to fill
// in, the one tagged judge:ID says how it went, and a Markdown cell tagged
// solution:ID has in its code blocks what is to stand in the skeletons' places.
type Exercise struct {
	ID        string
	Skeletons []*Cell
	Judge     *Cell
	Solution  []string // for each skeleton
}

var (
	role   = regexp.MustCompile(`^(exercise|judge|solution):(\S+)$`)
	fenced = regexp.MustCompile("(?ms)^```\\w+\n(.*?)\n```$")
)

// Exercises lists the notebook's exercises in the order in which they begin. It is an
// error if one lacks a skeleton, a judge or a solution for each skeleton.
func (nb *Notebook) Exercises() (list []*Exercise, err error) {
	byID := map[string]*Exercise{}
	for _, c := range nb.Cells {
		for _, tag := range c.Tags() {
			m := role.FindStringSubmatch(tag)
			if m == nil {
				continue
			}
			e := byID[m[2]]
			if e == nil {
				e = &Exercise{ID: m[2]}
				byID[m[2]], list = e, append(list, e)
			}
			switch {
			case m[1] == "solution" && c.Kind == Markdown:
				for _, code := range fenced.FindAllStringSubmatch(c.Source, -1) {
					e.Solution = append(e.Solution, code[1])
				}
			case m[1] == "judge" && c.Kind == Code && e.Judge == nil:
				e.Judge = c
			case m[1] == "exercise" && c.Kind == Code:
				e.Skeletons = append(e.Skeletons, c)
			default:
				err = errors.Join(err, fmt.Errorf("cell %s is tagged %s, which it cannot be", c.ID, tag))
			}
		}
	}
	for _, e := range list {
		if len(e.Skeletons) == 0 || e.Judge == nil || len(e.Solution) != len(e.Skeletons) {
			err = errors.Join(err, fmt.Errorf("exercise %s has %d skeletons, %d code blocks in its solution, judged: %v",
				e.ID, len(e.Skeletons), len(e.Solution), e.Judge != nil))
		}
	}
	return list, err
}

// Fill puts code in the skeletons' places: the solution, or another one.
func (e *Exercise) Fill(code []string) {
	for i, c := range e.Skeletons {
		c.Source = code[i]
	}
}

// Verdicts are what the exercise's judge said when it ran last, "right" for
// instance: one, or of ranks that differ several.
func (e *Exercise) Verdicts() (list []string) {
	said := regexp.MustCompile(`(?m)^(?:\[[0-9,-]+\] )?exercise ` + regexp.QuoteMeta(e.ID) + `: (.*)$`)
	for _, o := range e.Judge.Outputs {
		text, _ := o["text"].(string)
		for _, m := range said.FindAllStringSubmatch(text, -1) {
			list = append(list, m[1])
		}
	}
	return list
}

// Right says whether the exercise's judge found nothing wrong, on any rank.
func (e *Exercise) Right() bool {
	list := e.Verdicts()
	for _, v := range list {
		if v != "right" {
			return false
		}
	}
	return len(list) > 0
}

// NotRight are the exercises whose judges did not find them right, and what they said.
func NotRight(list []*Exercise) error {
	var err error
	for _, e := range list {
		if !e.Right() {
			err = errors.Join(err, fmt.Errorf("exercise %s: the judge says %q", e.ID, strings.Join(e.Verdicts(), "; ")))
		}
	}
	return err
}
