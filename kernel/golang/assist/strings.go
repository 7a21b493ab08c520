package assist

import (
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// completeString completes inside a string that begins, after its quote, at
// start: an import path, or the name of a file.
func completeString(scope Scope, tokens []lexeme, code string, start, cursor int) Completion {
	c := chunks(tokens)
	if len(c) > 0 && c[len(c)-1].tokens[0].tok == token.IMPORT {
		end := cursor
		for end < len(code) && !strings.ContainsRune("\"`\n", rune(code[end])) {
			end++
		}
		result := Completion{Start: start, End: end, Matches: []Match{}}
		for _, p := range scope.Packages() {
			if strings.HasPrefix(p, code[start:cursor]) {
				result.Matches = append(result.Matches, Match{Text: p, Kind: "package"})
			}
		}
		return result
	}
	if name, ok := indexed(scope, tokens, start-1); ok {
		result := Completion{Start: start, End: cursor}
		var list []Match
		for _, key := range scope.Keys(name) {
			if text := strconv.Quote(key); code[start-1] == '"' {
				list = append(list, Match{Text: text[1 : len(text)-1], Kind: "key"})
			} else if !strings.Contains(key, "`") {
				list = append(list, Match{Text: key, Kind: "key"})
			}
		}
		result.Matches = rank(list, code[start:cursor])
		return result
	}
	return completeFile(code, start, cursor)
}

// indexed returns the variable of the session that the string at quote is a key of.
func indexed(scope Scope, tokens []lexeme, quote int) (name string, ok bool) {
	at := slices.IndexFunc(tokens, func(t lexeme) bool { return t.start == quote })
	if at < 2 || tokens[at-1].tok != token.LBRACK || tokens[at-2].tok != token.IDENT || at > 2 && tokens[at-3].tok == token.PERIOD {
		return "", false
	}
	name = tokens[at-2].lit
	ok = slices.ContainsFunc(scope.Names(), func(o types.Object) bool {
		v, isVar := o.(*types.Var)
		if !isVar || o.Name() != name {
			return false
		}
		m, isMap := v.Type().Underlying().(*types.Map)
		return isMap && types.Identical(m.Key().Underlying(), types.Typ[types.String])
	})
	return name, ok
}

// maxFiles bounds how many names of files are offered.
const maxFiles = 500

// completeFile completes the last element of the file name between start and
// the cursor, relative to the working directory of the cells.
func completeFile(code string, start, cursor int) Completion {
	name := code[start:cursor]
	dir, prefix := filepath.Split(name)
	result := Completion{Start: cursor - len(prefix), End: cursor, Matches: []Match{}}
	look := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			look = filepath.Join(home, rest)
		}
	}
	if look == "" {
		look = "."
	}
	entries, err := os.ReadDir(look)
	if err != nil {
		return result // there is no such folder yet
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || prefix == "" && strings.HasPrefix(e.Name(), ".") || len(result.Matches) == maxFiles {
			continue
		}
		text := e.Name()
		if info, err := os.Stat(filepath.Join(look, text)); err == nil && info.IsDir() {
			text += "/"
		}
		result.Matches = append(result.Matches, Match{Text: text, Kind: "file"})
	}
	return result
}
