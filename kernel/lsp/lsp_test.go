package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
	"gocuda/kernel/packages"
)

// client speaks with a server.
type client struct {
	t    *testing.T
	to   io.WriteCloser
	from *bufio.Reader
	done chan error
	id   int
}

func start(t *testing.T) *client {
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &client{t: t, to: to, from: bufio.NewReader(from), done: make(chan error, 1)}
	go func() {
		err := Serve(in, out, Options{Magics: magic.NewSet(), Evaluator: func() (*golang.Evaluator, error) {
			return golang.New(golang.Options{Packages: packages.All(), Stdout: io.Discard, Stderr: io.Discard})
		}})
		out.Close()
		c.done <- err
	}()
	return c
}

func (c *client) send(text string) {
	fmt.Fprintf(c.to, "Content-Length: %d\r\n\r\n%s", len(text), text)
}

func (c *client) tell(method string, params any) {
	text, _ := json.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params})
	c.send(string(text))
}

// next is the next message of the server.
func (c *client) next() map[string]any {
	c.t.Helper()
	text, err := read(c.from)
	if err != nil {
		c.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		c.t.Fatal(err)
	}
	return m
}

func (c *client) ask(method string, params any) map[string]any {
	c.t.Helper()
	c.id++
	text, _ := json.Marshal(object{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	c.send(string(text))
	for {
		if m := c.next(); m["id"] == float64(c.id) {
			return m
		}
	}
}

// open gives a document a text and returns what is wrong with it: "line:from-to text".
func (c *client) open(method, text string, version int) (list []string) {
	c.t.Helper()
	params := object{"textDocument": object{"uri": "file:///a.ipynb", "version": version, "text": text, "languageId": "go"}}
	if method == "textDocument/didChange" {
		params["contentChanges"] = []object{{"text": text}}
	}
	c.tell(method, params)
	return c.published(version)
}

// published is what is wrong with a version of the document, when the server next says so.
func (c *client) published(version int) (list []string) {
	c.t.Helper()
	for {
		m := c.next()
		p, _ := m["params"].(map[string]any)
		if m["method"] != "textDocument/publishDiagnostics" || p["version"] != float64(version) {
			continue
		}
		for _, d := range p["diagnostics"].([]any) {
			d := d.(map[string]any)
			r := d["range"].(map[string]any)
			from, to := r["start"].(map[string]any), r["end"].(map[string]any)
			list = append(list, fmt.Sprintf("%v:%v-%v %v", from["line"], from["character"], to["character"], d["message"]))
			if d["severity"] != 1.0 {
				list[len(list)-1] += fmt.Sprintf(" (%v)", d["severity"])
			}
		}
		return list
	}
}

// until reads what is wrong with a version of the document until it is enough.
func (c *client) until(version int, enough func([]string) bool) (list []string) {
	c.t.Helper()
	for {
		if list = c.published(version); enough(list) {
			return list
		}
	}
}

func TestServer(t *testing.T) {
	c := start(t)
	if m := c.ask("initialize", object{"capabilities": object{}}); m["result"].(map[string]any)["capabilities"].(map[string]any)["textDocumentSync"] != 1.0 {
		t.Error(m)
	}
	c.tell("initialized", object{})
	book := []string{
		"import \"strings\"\nx := strings.ToUpper(\"é\")\nx",
		"%%kernel --instantiate 'axpy[float32]'\nfunc axpy[T float32](x []T) {}\nfunc twice(x []float32) {\n\tx[gpu.ThreadIdx.X] *= 2 * half(1)\n}\n\nfunc half(x float32) float32 { return x / 2 }",
		"!ls\n/* é𝄞 */ y := len(x) + unknown\ntwice.Name() + axpy_float32.Name() + fmt.Sprint(half(3))",
		"%%time\nx := 3 // again, of another type\ny + x",
		"%%timeline\n%%mpi\nworld.Barrier()\nz := rank",
		"%%bash\necho $x",
		"func f() int {\n\treturn \"a\"\n}",
		"f(1, 2",
	}
	text := strings.Join(book, "\n\n\n")
	got := c.open("textDocument/didOpen", text, 1)
	if len(got) != 3 || !strings.HasPrefix(got[0], "15:24-31 undefined: unknown") || !strings.Contains(got[1], "cannot use \"a\"") || !strings.HasPrefix(got[2], "39:6-6 syntax error") {
		t.Errorf("wrong are %q", got)
	}
	got = c.open("textDocument/didChange", strings.ReplaceAll(text, "unknown", "1"), 2)
	if slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "undefined") }) {
		t.Errorf("still wrong are %q", got)
	}
	at := func(line, character int) object {
		return object{"textDocument": object{"uri": "file:///a.ipynb"}, "position": object{"line": line, "character": character}}
	}
	m := c.ask("textDocument/hover", at(1, 14))
	if s := fmt.Sprint(m["result"]); !strings.Contains(s, "ToUpper") {
		t.Errorf("the hover is %v", m)
	}
	m = c.ask("textDocument/completion", at(1, 14))
	if s := fmt.Sprint(m["result"]); !strings.Contains(s, "label:ToUpperSpecial") || !strings.Contains(s, "map[character:13 line:1]") {
		t.Errorf("the completion is %v", m)
	}
	if m := c.ask("textDocument/hover", at(99, 3)); m["error"] != nil {
		t.Errorf("behind the end: %v", m)
	}
	if m := c.ask("textDocument/codeLens", at(1, 1)); m["error"].(map[string]any)["code"] != float64(unknownMethod) {
		t.Error(m)
	}
	c.ask("shutdown", nil)
	c.tell("exit", nil)
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

// TestNames: definitions, references, renames and symbols go over cells, by what names mean.
func TestNames(t *testing.T) {
	book := []string{
		"éa := 1; count := 2 // count\ntype pair struct{ count int }",
		"!echo count\n%%time\nfmt.Println(\"count é𝄞\", count, éa, pair{count: 3}.count)",
		"func f(count int) int { return count }\nfunc g() int { return count }",
		"type outer struct{ pair }\n_ = outer{}.pair.count",
		"count := \"\"\nlen(count)",
		"%%mpi\nlocal := 1\n_ = local",
		"f(1, count",
	}
	for i, b := range []string{strings.Join(book[:6], "\n\n\n"), strings.Join(book, "\n\n\n")} {
		c := start(t)
		c.open("textDocument/didOpen", b, 1)
		ask := func(method string, line, character int, more object) string {
			params := object{"textDocument": object{"uri": "file:///a.ipynb"}, "position": object{"line": line, "character": character}, "context": object{"includeDeclaration": true}}
			for k, v := range more {
				params[k] = v
			}
			m := c.ask("textDocument/"+method, params)
			if e, ok := m["error"].(map[string]any); ok {
				return "error: " + fmt.Sprint(e["message"])
			}
			list, _ := m["result"].([]any)
			if changes, ok := m["result"].(map[string]any); ok {
				list = changes["changes"].(map[string]any)["file:///a.ipynb"].([]any)
			}
			var out []string
			for _, o := range list {
				o := o.(map[string]any)
				r, ok := o["range"].(map[string]any)
				if o["selectionRange"] != nil {
					r, ok = o["selectionRange"].(map[string]any)
				}
				if !ok {
					t.Fatal(m)
				}
				from := r["start"].(map[string]any)
				name, _ := o["name"].(string)
				out = append(out, fmt.Sprintf("%s%v:%v", name, from["line"], from["character"]))
			}
			return strings.Join(out, " ")
		}
		const count = "0:9 6:25 10:22"
		for _, test := range []struct {
			method          string
			line, character int
			want            string
		}{
			{"definition", 6, 27, "0:9"},
			{"definition", 9, 33, "9:7"},
			{"definition", 6, 2, ""},
			{"definition", 99, 2, ""},
			{"references", 0, 10, count},
			{"documentHighlight", 10, 22, count},
			{"references", 6, 33, "0:0 6:32"},
			{"references", 1, 19, "1:18 6:41 6:51 14:17"},
			{"references", 1, 6, "1:5 6:36 13:19 14:12"},
			{"references", 17, 1, "17:0 18:4"},
			{"documentSymbol", 0, 0, "éa0:0 count0:9 pair1:5 f9:5 g10:5 outer13:5 count17:0"},
		} {
			if got := ask(test.method, test.line, test.character, nil); got != test.want {
				t.Errorf("%d: %s at %d:%d is %q, want %q", i, test.method, test.line, test.character, got, test.want)
			}
		}
		for name, want := range map[string]string{"total": count, "pair": "error: pair is a name", "func": "error: \"func\" cannot be a name"} {
			if i == 1 && name != "func" {
				want = "error: the cell at line 27 has the name count too"
			}
			if got := ask("rename", 0, 9, object{"newName": name}); !strings.HasPrefix(got, want) {
				t.Errorf("%d: rename to %s is %q, want %q", i, name, got, want)
			}
		}
		if got := ask("rename", 6, 5, object{"newName": "x"}); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%d: rename of a package's name is %q", i, got)
		}
		c.tell("exit", nil)
		<-c.done
	}
}

func TestSignatureAndFormatting(t *testing.T) {
	c := start(t)
	c.open("textDocument/didOpen", "// area is of a rectangle.\nfunc area(w,h float64) float64{return w*h}\n\n\n%%time\ny:=area(2, 3)\n\n\n%%bash\nx=1", 1)
	params := object{"textDocument": object{"uri": "file:///a.ipynb"}, "position": object{"line": 5, "character": 11}}
	got, _ := json.Marshal(c.ask("textDocument/signatureHelp", params)["result"])
	if want := `{"activeParameter":1,"activeSignature":0,"signatures":[{"documentation":"area is of a rectangle.","label":"area(w float64, h float64) float64","parameters":[{"label":"w float64"},{"label":"h float64"}]}]}`; string(got) != want {
		t.Errorf("the signature is %s, want %s", got, want)
	}
	got, _ = json.Marshal(c.ask("textDocument/formatting", params)["result"])
	if want := `[{"newText":"// area is of a rectangle.\nfunc area(w, h float64) float64 { return w * h }","range":{"end":{"character":42,"line":1},"start":{"character":0,"line":0}}},` +
		`{"newText":"%%time\ny := area(2, 3)","range":{"end":{"character":13,"line":5},"start":{"character":0,"line":4}}}]`; string(got) != want {
		t.Errorf("formatted it is %s, want %s", got, want)
	}
	c.tell("exit", nil)
	<-c.done
}

// FuzzServe: whatever comes, the server answers or ends.
func FuzzServe(f *testing.F) {
	frame := func(texts ...string) (all string) {
		for _, text := range texts {
			all += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
		}
		return all
	}
	f.Add(frame(`{"id":1,"method":"initialize"}`, `{"method":"exit"}`))
	f.Add(frame(`{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"a","text":"x := 1\n\n\ny"}}}`, `{"id":"a","method":"textDocument/hover","params":{"textDocument":{"uri":"a"},"position":{"line":-1,"character":-5}}}`))
	f.Add(frame(`{`, `[]`, `{"id":2,"method":"textDocument/completion","params":{"position":3}}`))
	for _, method := range []string{"definition", "rename", "documentSymbol", "signatureHelp", "formatting"} {
		f.Add(frame(`{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"a","text":"x := 1\\n\\n\\nx"}}}`, `{"id":1,"method":"textDocument/`+method+`","params":{"textDocument":{"uri":"a"},"position":{"line":3,"character":1},"newName":"y"}}`))
	}
	f.Add("Content-Length: -1\r\n\r\n")
	f.Add("Content-Length: 99999999999\r\n\r\n{}")
	f.Fuzz(func(t *testing.T, in string) {
		fresh := func() (*golang.Evaluator, error) {
			return golang.New(golang.Options{Stdout: io.Discard, Stderr: io.Discard})
		}
		Serve(strings.NewReader(in), io.Discard, Options{Magics: magic.NewSet(), Evaluator: fresh})
		for _, c := range cells(in) {
			for line := range 5 {
				at := position{line, len(in) / (line + 1)}
				if c, n, ok := cellAt(cells(in), at); ok && c.position(n).Line != line {
					t.Errorf("%v is %v", at, c.position(n))
				}
			}
			c.diagnostic("9", "9", "")
		}
	})
}
