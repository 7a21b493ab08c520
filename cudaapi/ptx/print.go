package ptx

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// String is the module's text.
func (m *Module) String() string {
	var b strings.Builder
	if m.Version != "" {
		fmt.Fprintf(&b, ".version %s\n", m.Version)
	}
	if m.Target != "" {
		fmt.Fprintf(&b, ".target %s\n", m.Target)
	}
	b.WriteString(".address_size 64\n\n")
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *Variable:
			fmt.Fprintf(&b, "%s;\n", d)
		case *Function:
			b.WriteString(d.String())
		}
	}
	for _, n := range slices.Sorted(maps.Keys(m.Files)) {
		fmt.Fprintf(&b, ".file %d %s\n", n, strconv.Quote(m.Files[n]))
	}
	return b.String()
}

func linkage(list []string) string {
	text := ""
	for _, l := range list {
		text += "." + l + " "
	}
	return text
}

// String is the variable's declaration without a semicolon.
func (v *Variable) String() string {
	text := linkage(v.Linkage) + "." + v.Space
	if v.Align > 0 {
		text += fmt.Sprintf(" .align %d", v.Align)
	}
	if v.Vector > 0 {
		text += fmt.Sprintf(" .v%d", v.Vector)
	}
	text += fmt.Sprintf(" .%s %s", v.Type, v.Name)
	if v.Count > 0 {
		text += fmt.Sprintf("<%d>", v.Count)
	}
	for _, n := range v.Dims {
		if n < 0 {
			text += "[]"
		} else {
			text += fmt.Sprintf("[%d]", n)
		}
	}
	if v.Init == nil {
		return text
	}
	var values []string
	for _, x := range v.Init {
		s := x.Literal
		if x.Symbol != "" {
			if s = x.Symbol; x.Generic {
				s = "generic(" + s + ")"
			}
			s += plus(x.Plus)
		}
		values = append(values, s)
	}
	if list := strings.Join(values, ", "); v.Dims != nil || len(values) != 1 {
		return text + " = {" + list + "}"
	}
	return text + " = " + values[0]
}

func plus(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%+d", n)
}

func params(list []*Variable) string {
	var text []string
	for _, v := range list {
		text = append(text, v.String())
	}
	return "(" + strings.Join(text, ", ") + ")"
}

// String is the function's text.
func (f *Function) String() string {
	var b strings.Builder
	b.WriteString(linkage(f.Linkage))
	if f.Kernel {
		b.WriteString(".entry ")
	} else {
		b.WriteString(".func ")
	}
	if f.Results != nil {
		b.WriteString(params(f.Results) + " ")
	}
	b.WriteString(f.Name + params(f.Params))
	for _, d := range f.Directives {
		b.WriteString(" ." + d.Name)
		for i, n := range d.Values {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " %d", n)
		}
	}
	if f.Declared {
		b.WriteString(";\n")
		return b.String()
	}
	b.WriteString("\n")
	body(&b, f.Body, "")
	return b.String()
}

func body(b *strings.Builder, list []Statement, indent string) {
	b.WriteString(indent + "{\n")
	for _, s := range list {
		switch s := s.(type) {
		case *Block:
			body(b, s.Body, indent+"\t")
		case *Label:
			fmt.Fprintf(b, "%s%s:\n", indent, s.Name)
		case *Place:
			fmt.Fprintf(b, "%s\t%s\n", indent, s)
		case *Variable:
			fmt.Fprintf(b, "%s\t%s;\n", indent, s)
		case *Instruction:
			fmt.Fprintf(b, "%s\t%s;\n", indent, s)
		case *Prototype:
			fmt.Fprintf(b, "%s\t%s;\n", indent, s)
		}
	}
	b.WriteString(indent + "}\n")
}

// String is the place as a directive.
func (l *Place) String() string {
	text := fmt.Sprintf(".loc %d %d %d", l.File, l.Line, l.Column)
	if l.At != nil {
		text += fmt.Sprintf(", inlined_at %d %d %d", l.At.File, l.At.Line, l.At.Column)
	}
	return text
}

// String is the prototype without a semicolon.
func (p *Prototype) String() string {
	text := p.Name + " : ." + p.Kind + " "
	if p.Kind != "callprototype" {
		return text + strings.Join(p.Targets, ", ")
	}
	if p.Results != nil {
		text += params(p.Results) + " "
	}
	return text + "_ " + params(p.Params)
}

// String is the instruction without a semicolon.
func (i *Instruction) String() string {
	text := ""
	if i.Guard != "" {
		if text = "@"; i.Not {
			text += "!"
		}
		text += i.Guard + " "
	}
	text += i.Name()
	for k, o := range i.Operands {
		if k > 0 {
			text += ","
		}
		text += " " + o.String()
	}
	return text
}

// Name is the instruction's opcode, whole.
func (i *Instruction) Name() string { return strings.Join(append([]string{i.Op}, i.Mods...), ".") }

// String is the operand's text.
func (o Operand) String() string {
	join := func(open, between, close string) string {
		var text []string
		for _, p := range o.Parts {
			text = append(text, p.String())
		}
		return open + strings.Join(text, between) + close
	}
	switch o.Kind {
	case Name:
		return o.Text + plus(o.Plus)
	case Inverted:
		return "!" + o.Text
	case Negated:
		return "-" + o.Text
	case Vector:
		return join("{", ", ", "}")
	case List:
		return join("(", ", ", ")")
	case Both:
		return join("", "|", "")
	case Address:
		text := o.Text + plus(o.Plus)
		if o.Text == "" {
			text = strconv.FormatInt(o.Plus, 10)
		}
		if o.Parts != nil {
			text += join(", ", ", ", "")
		}
		return "[" + text + "]"
	}
	return o.Text
}
