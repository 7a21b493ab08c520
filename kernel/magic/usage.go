package magic

import (
	"slices"
	"strings"
)

// term is a part of a usage: a word, or a group in brackets.
type term struct {
	word   string
	group  [][]term // alternatives
	repeat bool     // it ends in three dots
}

// literal says whether the user types the word as it stands.
func (t term) literal() bool {
	return t.group == nil && t.word == strings.ToLower(t.word)
}

// parseUsage reads alternatives up to the bracket that closes them.
func parseUsage(fields []string) (alternatives [][]term, rest []string) {
	sequence := []term{}
	for len(fields) > 0 {
		word := fields[0]
		fields = fields[1:]
		switch {
		case word == "|":
			alternatives, sequence = append(alternatives, sequence), nil
		case word == "]" || word == "]...":
			return append(alternatives, sequence), append([]string{word}, fields...)
		case word == "[":
			t := term{}
			if t.group, fields = parseUsage(fields); len(fields) > 0 {
				t.repeat, fields = fields[0] == "]...", fields[1:]
			}
			sequence = append(sequence, t)
		default:
			word, repeat := strings.CutSuffix(word, "...")
			sequence = append(sequence, term{word: word, repeat: repeat})
		}
	}
	return append(alternatives, sequence), nil
}

// usageFields cuts a usage into words, bars and brackets. A bracket within a word,
// as in MODULE[@VERSION], and a bar, as in on|off, belong to the word.
func usageFields(usage string) []string {
	var list []string
	for _, word := range strings.Fields(usage) {
		for strings.HasPrefix(word, "[") {
			list, word = append(list, "["), word[1:]
		}
		var closing []string
		for {
			bare, dots := strings.CutSuffix(word, "...")
			if !strings.HasSuffix(bare, "]") || strings.Count(bare, "[") == strings.Count(bare, "]") {
				break
			}
			word = bare[:len(bare)-1]
			if dots {
				closing = append(closing, "]...")
			} else {
				closing = append(closing, "]")
			}
		}
		slices.Reverse(closing)
		list = append(append(list, word), closing...)
	}
	return list
}

// Next lists what the usage lets follow the words of a call: words and options as
// they are typed, and names in capitals for what the user chooses, such as FILE.
func (m Magic) Next(words []string) []string {
	_, usage, _ := strings.Cut(m.Usage, " ")
	alternatives, _ := parseUsage(usageFields(usage))
	n := &follower{valued: make(map[string]string), used: make(map[string]bool)}
	n.collect(alternatives)
	for i := 0; i < len(words); i++ {
		value, takes := n.valued[words[i]]
		_, known := n.used[words[i]]
		switch {
		case takes && i == len(words)-1:
			return strings.Split(value, "|")
		case takes:
			n.used[words[i]] = true
			i++
		case known:
			n.used[words[i]] = true
		case !strings.HasPrefix(words[i], "-"):
			n.free++
		}
	}
	n.alternatives(alternatives, false)
	return n.list
}

// follower collects what may follow.
type follower struct {
	valued map[string]string // the words that take a value, with its name
	used   map[string]bool   // all words of the usage: whether the call has them
	free   int               // words of the call that are none of these
	list   []string
}

func (n *follower) collect(alternatives [][]term) {
	for _, sequence := range alternatives {
		for i, t := range sequence {
			if !t.literal() {
				n.collect(t.group)
				continue
			}
			n.used[t.word] = false
			if i+1 < len(sequence) && sequence[i+1].group == nil {
				n.valued[t.word] = sequence[i+1].word
			}
		}
	}
}

// begun says whether the call has a word of the sequence.
func (n *follower) begun(sequence []term) bool {
	return slices.ContainsFunc(sequence, func(t term) bool {
		return t.literal() && n.used[t.word] || slices.ContainsFunc(t.group, n.begun)
	})
}

func (n *follower) alternatives(list [][]term, repeat bool) {
	if i := slices.IndexFunc(list, n.begun); i >= 0 && !repeat {
		list = list[i : i+1]
	}
	for _, sequence := range list {
		if len(list) > 1 && n.free > 0 && !repeat && sequence[0].literal() {
			continue // the call has another word in its place
		}
		n.sequence(sequence, repeat)
	}
}

func (n *follower) sequence(sequence []term, repeat bool) {
	for i := 0; i < len(sequence); i++ {
		t := sequence[i]
		_, takes := n.valued[t.word]
		switch {
		case t.group != nil:
			n.alternatives(t.group, repeat || t.repeat)
		case t.literal():
			if !n.used[t.word] || repeat {
				n.list = append(n.list, t.word)
				if !n.used[t.word] {
					return // the rest follows it
				}
			}
			if takes {
				i++
			}
		case n.free > 0 && !repeat && !t.repeat:
			n.free--
		default:
			n.list = append(n.list, t.word)
		}
	}
}
