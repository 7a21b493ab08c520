package gxf

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"gocuda/cudaapi/streamsync"
)

// Application is a loaded graph. It is used by one goroutine at a time.
type Application struct {
	all    []*component // in the order of the source
	makers map[string]func() Codelet
	limit  int // max_duration_ms; 0 for none
}

// component is one of an entity's. What it holds beside its parameters depends
// on its type.
type component struct {
	entity, name, typ string
	line              int
	parameters        map[string]*yaml.Node

	capacity int        // DoubleBufferReceiver
	queue    []*Message // DoubleBufferReceiver
	peers    []*component
	sync     *streamsync.StreamSync
	pool     *Pool
	codelet  *Codelet
	ticks    int
}

func (c *component) path() string { return c.entity + "/" + c.name }

// components are the built-in types, with their parameters; those of a
// component that must have a value are true.
var components = map[string]map[string]bool{
	"DoubleBufferTransmitter":           {"capacity": false},
	"DoubleBufferReceiver":              {"capacity": false},
	"Connection":                        {"source": true, "target": true},
	"CountSchedulingTerm":               {"count": true},
	"MessageAvailableSchedulingTerm":    {"receiver": true, "min_size": false},
	"DownstreamReceptiveSchedulingTerm": {"transmitter": true, "min_size": false},
	"StreamSync":                        {"signaler": true, "waiter": true, "signaler_device_id": false, "waiter_device_id": false},
	"BlockMemoryPool":                   {"storage_type": true, "block_size": true, "num_blocks": true, "dev_id": false},
	"GreedyScheduler":                   {"clock": false, "max_duration_ms": false},
	"RealtimeClock":                     {},
}

func shortType(typ string) string {
	short := typ[strings.LastIndex(typ, ":")+1:]
	if short == "GxfStreamSync" {
		return "StreamSync"
	}
	return short
}

// Load reads an application graph. Errors name the line of the source.
func Load(source string) (*Application, error) {
	a := &Application{makers: map[string]func() Codelet{}}
	decoder := yaml.NewDecoder(strings.NewReader(source))
	for n := 1; ; n++ {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("gxf: %w", err)
		}
		if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
			continue
		}
		if err := a.entity(document.Content[0], n); err != nil {
			return nil, err
		}
	}
	if len(a.all) == 0 {
		return nil, errors.New("gxf: the source has no components")
	}
	return a, a.link()
}

func problem(line int, format string, args ...any) error {
	return fmt.Errorf("gxf: line %d: "+format, append([]any{line}, args...)...)
}

// mapping gives the fields of a YAML mapping, which may be only those allowed.
func mapping(node *yaml.Node, what string, allowed ...string) (map[string]*yaml.Node, error) {
	if node.Kind != yaml.MappingNode {
		return nil, problem(node.Line, "%s must be a mapping of names to values", what)
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if allowed != nil && !slices.Contains(allowed, key.Value) {
			return nil, problem(key.Line, "%s has no %q; it may have %s", what, key.Value, strings.Join(allowed, ", "))
		}
		if fields[key.Value] != nil {
			return nil, problem(key.Line, "%s has %q twice", what, key.Value)
		}
		fields[key.Value] = value
	}
	return fields, nil
}

func (a *Application) entity(node *yaml.Node, n int) error {
	fields, err := mapping(node, "an entity", "name", "components")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("entity %d", n)
	if f := fields["name"]; f != nil {
		name = f.Value
	}
	for _, c := range a.all {
		if c.entity == name {
			return problem(node.Line, "there are two entities named %q", name)
		}
	}
	list := fields["components"]
	if list == nil || list.Kind != yaml.SequenceNode {
		return problem(node.Line, "entity %q must have components, a list", name)
	}
	for i, item := range list.Content {
		c, err := newComponent(item, name, i)
		if err != nil {
			return err
		}
		if a.find(c.path()) != nil {
			return problem(item.Line, "entity %q has two components named %q", name, c.name)
		}
		a.all = append(a.all, c)
	}
	return nil
}

func newComponent(node *yaml.Node, entity string, i int) (*component, error) {
	fields, err := mapping(node, "a component", "name", "type", "parameters")
	if err != nil {
		return nil, err
	}
	if fields["type"] == nil || fields["type"].Value == "" {
		return nil, problem(node.Line, "component %d of entity %q has no type", i+1, entity)
	}
	c := &component{entity: entity, typ: shortType(fields["type"].Value), line: node.Line, parameters: map[string]*yaml.Node{}}
	c.name = fmt.Sprintf("%s %d", c.typ, i+1)
	if f := fields["name"]; f != nil {
		c.name = f.Value
	}
	if f := fields["parameters"]; f != nil {
		if c.parameters, err = mapping(f, "parameters of "+c.path()); err != nil {
			return nil, err
		}
	}
	known, builtin := components[c.typ]
	if !builtin {
		return c, nil
	}
	for p, f := range c.parameters {
		if _, ok := known[p]; !ok {
			return nil, problem(f.Line, "%s (%s) has no parameter %q", c.path(), c.typ, p)
		}
	}
	for p, needed := range known {
		if needed && c.parameters[p] == nil {
			return nil, problem(c.line, "%s (%s) lacks its parameter %q", c.path(), c.typ, p)
		}
	}
	return c, nil
}

// link joins what parameters of built-in components name.
func (a *Application) link() error {
	for _, c := range a.all {
		var err error
		switch c.typ {
		case "DoubleBufferReceiver":
			c.capacity, err = c.natural("capacity", 1)
		case "Connection":
			var from, to *component
			if from, err = a.target(c, "source", "DoubleBufferTransmitter"); err != nil {
				return err
			}
			if to, err = a.target(c, "target", "DoubleBufferReceiver"); err != nil {
				return err
			}
			from.peers = append(from.peers, to)
		case "CountSchedulingTerm":
			_, err = c.natural("count", 0)
		case "MessageAvailableSchedulingTerm":
			if _, err = a.target(c, "receiver", "DoubleBufferReceiver"); err == nil {
				_, err = c.natural("min_size", 1)
			}
		case "DownstreamReceptiveSchedulingTerm":
			if _, err = a.target(c, "transmitter", "DoubleBufferTransmitter"); err == nil {
				_, err = c.natural("min_size", 1)
			}
		case "GreedyScheduler":
			a.limit, err = c.natural("max_duration_ms", 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Application) find(path string) *component {
	for _, c := range a.all {
		if c.path() == path {
			return c
		}
	}
	return nil
}

// target is the component that a parameter of c names, which must be of a type.
func (a *Application) target(c *component, parameter, typ string) (*component, error) {
	var path string
	if err := c.decode(parameter, &path); err != nil {
		return nil, err
	}
	if !strings.Contains(path, "/") {
		path = c.entity + "/" + path
	}
	t := a.find(path)
	if t == nil {
		return nil, problem(c.parameters[parameter].Line, "%s of %s names %q, which does not exist", parameter, c.path(), path)
	}
	if t.typ != typ {
		return nil, problem(c.parameters[parameter].Line, "%s of %s names %q, a %s; it must be a %s", parameter, c.path(), path, t.typ, typ)
	}
	return t, nil
}

func (c *component) decode(parameter string, into any) error {
	node := c.parameters[parameter]
	if node == nil {
		return problem(c.line, "%s has no parameter %q", c.path(), parameter)
	}
	if err := node.Decode(into); err != nil {
		return problem(node.Line, "parameter %q of %s: %v", parameter, c.path(), err)
	}
	return nil
}

func (c *component) integer(parameter string) (int, error) {
	var n int
	return n, c.decode(parameter, &n)
}

// natural is a parameter that is 0 or more, or what it is when it is not given.
func (c *component) natural(parameter string, otherwise int) (int, error) {
	if c.parameters[parameter] == nil {
		return otherwise, nil
	}
	n, err := c.integer(parameter)
	if err == nil && n < 0 {
		err = problem(c.parameters[parameter].Line, "%s of %s is %d; it must not be negative", parameter, c.path(), n)
	}
	return n, err
}
