package golang

import (
	"go/token"
	"go/types"
	"maps"
	"strings"

	"gocuda/kernel/golang/assist"
)

// Scope returns what a cell can refer to now.
func (ev *Evaluator) Scope() assist.Scope {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	names := make(map[string]types.Object)
	for _, path := range ev.dots {
		if p, err := ev.importer.Import(path); err == nil {
			for _, name := range p.Scope().Names() {
				if token.IsExported(name) {
					names[name] = p.Scope().Lookup(name)
				}
			}
		}
	}
	maps.Copy(names, ev.names)
	return &scope{ev, ev.importer, ev.options.Modules, names, maps.Clone(ev.source)}
}

// scope is a snapshot of a session.
type scope struct {
	ev      *Evaluator
	im      *importer
	modules Modules // or nil
	names   map[string]types.Object
	source  map[types.Object]sourceText
}

func (s *scope) Import(path string) (*types.Package, error) { return s.im.Import(path) }

func (s *scope) Packages() []string {
	list := s.im.host.Packages()
	if s.modules != nil {
		for _, p := range s.modules.Packages() {
			if !s.im.compiled(p) {
				list = append(list, p)
			}
		}
	}
	return list
}

func (s *scope) Names() []types.Object {
	list := make([]types.Object, 0, len(s.names))
	for _, o := range s.names {
		if !strings.HasSuffix(o.Name(), "ʹ") { // the kernel's own
			list = append(list, o)
		}
	}
	if s.names[mustName] == nil { // as it is for one value
		list = append(list, types.NewFunc(token.NoPos, nil, mustName, s.im.must(1).Signature()))
	}
	return list
}

func (s *scope) Source(o types.Object) string {
	if f, ok := o.(*types.Func); ok {
		o = f.Origin() // of an instance's method
	}
	return s.source[o].text
}

func (s *scope) Value(name string) string { return s.ev.Value(name) }

func (s *scope) Keys(name string) []string { return s.ev.keys(name) }

func (s *scope) Doc(o types.Object) string { return s.im.host.Doc(o) }

func (s *scope) Declaration(o types.Object) string { return s.im.host.Declaration(o) }
