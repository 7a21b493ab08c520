package ptx

import "strings"

// IsText reports whether an image is PTX, not compiled code.
func IsText(image []byte) bool {
	text := strings.TrimRight(string(image[:min(len(image), 1<<16)]), "\x00")
	return !strings.ContainsRune(text, 0) && strings.Contains(text, ".version")
}

// PlaceInText has each instruction come from its line in the text, which is called name,
// whatever source the text says that it is from.
func (m *Module) PlaceInText(name string) {
	m.Files = map[int]string{1: name}
	for _, d := range m.Decls {
		if f, ok := d.(*Function); ok {
			f.Body = placed(f.Body)
		}
	}
}

func placed(list []Statement) (out []Statement) {
	line := 0
	for _, s := range list {
		switch s := s.(type) {
		case *Place:
			continue
		case *Block:
			s.Body = placed(s.Body)
			line = 0
		case *Instruction:
			if s.Line != line {
				line = s.Line
				out = append(out, &Place{File: 1, Line: line})
			}
		}
		out = append(out, s)
	}
	return out
}
