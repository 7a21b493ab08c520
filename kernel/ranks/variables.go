package ranks

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"strings"

	"gocuda/kernel/evaluator"
	"gocuda/kernel/ranks/label"
	"gocuda/kernel/session"
)

// What a rank's evaluator has for mpi.Push and mpi.Pull: builtins with names
// that no cell writes by chance, and the cells that call them.
const (
	setBuiltin  = "mpiSetʹ"
	giveBuiltin = "mpiGiveʹ"
	makeBuiltin = "mpiMakeʹ"
)

// noVariable names the error of a rank that has no variable to be pulled.
const noVariable = "NoVariable"

// Push is mpi.Push.
func (n *notebook) Push(name string, value any) error {
	failed := func(err error) error { return fmt.Errorf("mpi.Push(%q): %w", name, err) }
	if err := checkName(name); err != nil {
		return failed(err)
	}
	c, err := pack(value)
	if err != nil {
		return failed(err)
	}
	code := fmt.Sprintf("var %s %s\n%s(&%[1]s)", name, c.Type, setBuiltin)
	results, err := n.exchange("mpi.Push", code, c.bytes())
	if err != nil {
		return failed(err)
	}
	var unknown []int
	for r, result := range results {
		if result.Err != nil && result.Err.Name == "CompileError" {
			unknown = append(unknown, r)
		}
	}
	if len(unknown) > 0 {
		return failed(fmt.Errorf("%s cannot have a variable of type %s: declare the type there too, in a %%%%mpi cell (%s)",
			named(unknown), c.Type, results[unknown[0]].Err.Message))
	}
	return asPlain(failed, results)
}

// Pull is mpi.Pull.
func (n *notebook) Pull(name string) ([]any, error) {
	failed := func(err error) error { return fmt.Errorf("mpi.Pull(%q): %w", name, err) }
	if err := checkName(name); err != nil {
		return nil, failed(err)
	}
	results, err := n.exchange("mpi.Pull", fmt.Sprintf("%s(%s)", giveBuiltin, name), []byte(name))
	if err != nil {
		return nil, failed(err)
	}
	var without []int
	for r, result := range results {
		if result.Err != nil && result.Err.Name == noVariable {
			without = append(without, r)
		}
	}
	if len(without) > 0 {
		have := "has"
		if len(without) > 1 {
			have = "have"
		}
		return nil, failed(fmt.Errorf("%s %s no such variable", named(without), have))
	}
	if err := asPlain(failed, results); err != nil {
		return nil, err
	}
	values := make([]any, len(results))
	for r, result := range results {
		if values[r], err = n.unpack(result.Data); err != nil {
			return nil, failed(fmt.Errorf("rank %d: %w", r, err))
		}
	}
	return values, nil
}

func checkName(name string) error {
	if !token.IsIdentifier(name) || name == "_" {
		return errors.New("this is not the name of a variable")
	}
	return nil
}

// asPlain is what ranks failed of, as an error without a trace: each reason
// once, with its ranks.
func asPlain(failed func(error) error, results []session.Result) error {
	list := dedupe(all(len(results)), func(r int) (string, bool) {
		if results[r].Err == nil {
			return "", false
		}
		return withoutRank(results[r].Err, r).Message, true
	})
	if len(list) == 0 {
		return nil
	}
	texts := make([]string, len(list))
	for i, f := range list {
		texts[i] = label.Of(f.ranks) + " " + f.value
	}
	return failed(errors.New(strings.Join(texts, "\n")))
}

// exchange runs code on every rank, with data for its builtins, for a function
// that the running cell calls.
func (n *notebook) exchange(what, code string, data []byte) ([]session.Result, error) {
	p, err := n.live()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	n.mu.Lock()
	stop := n.stopped
	n.mu.Unlock()
	go func() {
		select {
		case <-stop:
			cancel(session.ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	j, err := p.post(session.Cell{Name: what, Code: code, Silent: true, Data: data}, all(len(p.ranks)), 0)
	if err != nil {
		return nil, err
	}
	if err := p.wait(ctx, j); err != nil {
		return nil, err
	}
	results := make([]session.Result, len(j.ranks))
	for r := range results {
		results[r] = j.results[r]
	}
	return results, nil
}

// unpack makes a value of the notebook of what a rank gave.
func (n *notebook) unpack(data []byte) (any, error) {
	c, err := parseEncoded(data)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.made = nil
	n.mu.Unlock()
	// The cell's own types are known to its interpreter alone.
	code := fmt.Sprintf("%s(func() (any, func() any) { v := new(%s); return v, func() any { return *v } })", makeBuiltin, c.Type)
	if err := n.host.Within("mpi.Pull", code); err != nil {
		return nil, fmt.Errorf("the notebook cannot have a value of type %s: declare the type here too (%w)", c.Type, err)
	}
	n.mu.Lock()
	maker := n.made
	n.mu.Unlock()
	pointer, value := maker()
	if err := c.unpack(pointer); err != nil {
		return nil, err
	}
	return value(), nil
}

// variables are a rank's builtins for the notebook's Push and Pull.
func variables(h *evaluator.Host) map[string]any {
	return map[string]any{
		setBuiltin: func(pointer any) error {
			c, err := parseEncoded(h.Cell().Data)
			if err != nil {
				return err
			}
			return c.unpack(pointer)
		},
		giveBuiltin: func(value any) error {
			c, err := pack(value)
			if err != nil {
				return err
			}
			h.SetData(c.bytes())
			return nil
		},
	}
}

// lookFirst is a rank's Extension.Eval: it answers a Pull of a variable that
// this rank does not have.
func lookFirst(h *evaluator.Host) func(context.Context, string, bool) (bool, error) {
	return func(_ context.Context, code string, _ bool) (bool, error) {
		if !strings.HasPrefix(code, giveBuiltin) {
			return false, nil
		}
		name := string(h.Cell().Data)
		if n, ok := h.Named(name); ok && n.Kind == "var" {
			return false, nil
		}
		return true, session.NewError(noVariable, "there is no variable "+name)
	}
}
