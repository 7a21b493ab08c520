package codecache

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cacheIn opens a cache where the environment is as given, in a temporary folder
// of its own.
func cacheIn(t *testing.T, env map[string]string) (c Cache, tmp string, notes string) {
	t.Helper()
	tmp = filepath.Join(t.TempDir(), "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tmp, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", Variable} {
		t.Setenv(name, env[name])
	}
	return Open("kind"), tmp, strings.Join(Notes(), "\n")
}

func TestWhere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	uid := fmt.Sprint(os.Getuid())
	for _, c := range []struct {
		name string
		env  map[string]string
		want string // $TMP stands for the temporary folder
		note string
	}{
		{"the user's cache folder", map[string]string{"XDG_CACHE_HOME": dir}, dir + "/gocuda/kind", ""},
		{"in the home", map[string]string{"HOME": dir}, dir + "/.cache/gocuda/kind", ""},
		{"named", map[string]string{"XDG_CACHE_HOME": dir, Variable: dir + "/here"}, dir + "/here/kind", ""},
		{"off", map[string]string{"XDG_CACHE_HOME": dir, Variable: "off"}, "", ""},
		{"no home", nil, "$TMP/gocuda-" + uid + "/kind", ""},
		{"a home that cannot be", map[string]string{"HOME": file}, "$TMP/gocuda-" + uid + "/kind", "are kept in"},
		{"named and cannot be", map[string]string{Variable: file}, "", "not kept for later: " + file},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, tmp, notes := cacheIn(t, c.env)
			if want := strings.Replace(c.want, "$TMP", tmp, 1); got.Folder() != want {
				t.Errorf("folder %q, want %q", got.Folder(), want)
			}
			if (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			got.Put(Key("a", 1), []byte("code"))
			if b := got.Get(Key("a", 1)); (string(b) == "code") != (c.want != "") {
				t.Errorf("kept %q", b)
			}
		})
	}
}

// A cache in the temporary folder that somebody else made ready is not taken.
func TestStrangersCache(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	for name, ready := range map[string]func(path string) error{
		"folder": func(p string) error { return os.Mkdir(p, 0o777) },
		"link":   func(p string) error { return os.Symlink(t.TempDir(), p) },
	} {
		t.Run(name, func(t *testing.T) {
			_, tmp, _ := cacheIn(t, nil)
			planted := filepath.Join(tmp, fmt.Sprintf("gocuda-%d", os.Getuid()))
			if err := os.RemoveAll(planted); err != nil {
				t.Fatal(err)
			}
			if err := ready(planted); err != nil {
				t.Fatal(err)
			}
			if err := os.Lchown(planted, 65534, 65534); err != nil {
				t.Fatal(err)
			}
			if c := Open("kind"); c.Folder() != "" {
				t.Errorf("%s is used", c.Folder())
			}
			if notes := strings.Join(Notes(), "\n"); !strings.Contains(notes, "belongs to another user") {
				t.Errorf("notes: %q", notes)
			}
		})
	}
}

// A file of which any byte changed, or the end is missing, is not there; it is
// replaced by the next.
func TestDamaged(t *testing.T) {
	c, _, _ := cacheIn(t, map[string]string{Variable: t.TempDir()})
	key := Key("x")
	c.Put(key, []byte("compiled code"))
	file := filepath.Join(c.Folder(), key)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 4
		for _, b := range [][]byte{damaged, whole[:i]} {
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := c.Get(key); got != nil {
				t.Fatalf("byte %d: got %q", i, got)
			}
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.Get(key); got != nil { // and does not wait for the one that writes to the pipe
		t.Fatalf("got %q of a pipe", got)
	}
	c.Put(key, []byte("compiled again"))
	if got := c.Get(key); string(got) != "compiled again" {
		t.Errorf("got %q", got)
	}
}

func TestPruneKeepsTheLatest(t *testing.T) {
	dir := t.TempDir()
	begin := time.Now().Add(-time.Hour)
	for i := range 10 {
		f := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f, begin, begin.Add(time.Duration((i*7)%10)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	prune(dir, 3)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	// Number i was used i*7 mod 10 minutes later.
	want := fmt.Sprint([]string{filepath.Join(dir, "1"), filepath.Join(dir, "4"), filepath.Join(dir, "7")})
	if fmt.Sprint(left) != want {
		t.Errorf("left %v, want %s", left, want)
	}
}

// Two keys are the same only if all that they are made of is.
func TestKey(t *testing.T) {
	if Key("a", "bc") == Key("ab", "c") || Key("a") == Key("a", "") {
		t.Error("different things have one key")
	}
	if Key([]string{"a", "b"}) == Key([]string{"a b"}) {
		t.Error("a list has the key of another")
	}
}

func TestOwnHeadersAreNotCached(t *testing.T) {
	for _, src := range []struct {
		code    string
		options []string
	}{{code: "#include \"mine.h\"\n"}, {options: []string{"-I/home/me"}}, {options: []string{"--pre-include=x.h"}}} {
		if Lasting(src.code, src.options) {
			t.Errorf("%+v is cached", src)
		}
	}
	if !Lasting("#include <cuda_fp16.h>\n", []string{"-DN=4"}) {
		t.Error("CUDA's headers are not cached")
	}
}
