package ranks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// The ranks of a pool run one program: this one. A host that does not have it, at
// the same path and with the same SHA-256, gets it, by the way on which the launcher
// goes there as well (ssh, or srun).

// program is this program as other hosts are to have it.
type program struct{ path, sum string }

func thisProgram() (program, error) {
	path, err := os.Executable()
	if err != nil {
		return program{}, fmt.Errorf("cannot find this program to start it as rank: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return program{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return program{}, err
	}
	return program{path, fmt.Sprintf("%x", sum.Sum(nil))}, nil
}

// quoted makes a text one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// names begins the shell's part: where a program lies that was sent.
func (p program) names() string {
	return fmt.Sprintf(`self=%s sum=%s dir=${XDG_CACHE_HOME:-$HOME/.cache}/gocuda/bin; sent=$dir/gocuda-kernel-$sum; `, quoted(p.path), p.sum) +
		`of() { sha256sum "$1" 2>/dev/null | cut -d' ' -f1; }; `
}

// look is a command that says "missing" on a host that does not have the program.
func (p program) look() string {
	return p.names() + `[ "$(of "$sent")" = $sum ] || { rm -f "$sent"; [ "$(of "$self")" = $sum ]; } || echo missing`
}

// receive is a command that takes the program on its standard input, and away what
// was sent long ago.
func (p program) receive() string {
	return p.names() + `umask 077; mkdir -p "$dir" && cat >"$sent.$$" && [ "$(of "$sent.$$")" = $sum ] && chmod 700 "$sent.$$" && mv "$sent.$$" "$sent" ` +
		`|| { rm -f "$sent.$$"; echo "the program did not arrive whole" >&2; exit 1; }; find "$dir" -name 'gocuda-kernel-*' -mtime +30 -exec rm -f {} +`
}

// rank is the command of a rank: what was sent has been checked, as has the
// program at this path where nothing was sent.
func (p program) rank() []string {
	return []string{"/bin/sh", "-c", p.names() + `[ -x "$sent" ] || sent=$self; exec "$sent" rank`}
}

// sendTo makes sure that hosts have the program, and can be reached.
func (p program) sendTo(ctx context.Context, hosts []slots) error {
	failed := make([]error, len(hosts))
	var done sync.WaitGroup
	for i, h := range hosts {
		if isHere(h.host) {
			continue
		}
		done.Go(func() {
			said, err := ssh(ctx, reachTime, h.host, p.look(), nil)
			if err == nil && strings.TrimSpace(said) == "missing" {
				var f *os.File
				if f, err = os.Open(p.path); err == nil {
					_, err = ssh(ctx, reachTime, h.host, p.receive(), f)
					f.Close()
				}
			}
			if err != nil {
				failed[i] = fmt.Errorf("host %s: %w", h.host, err)
			}
		})
	}
	done.Wait()
	var text []string
	for _, err := range failed {
		if err != nil {
			text = append(text, err.Error())
		}
	}
	if len(text) > 0 {
		return fmt.Errorf("%s", strings.Join(text, "\n"))
	}
	return nil
}

// reachTime is how long a host may take to answer.
const reachTime = 8 * time.Second

// ssh runs a command on another host, if that answers soon enough. The error has
// what was said.
func ssh(ctx context.Context, answer time.Duration, host, command string, in io.Reader) (said string, err error) {
	cmd := exec.CommandContext(ctx, "ssh", "-o", "BatchMode=yes", "-o", fmt.Sprintf("ConnectTimeout=%d", int(answer.Seconds())), host, "/bin/sh -c "+quoted(command))
	var words bytes.Buffer
	cmd.Stdin, cmd.Stderr = in, &words
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(words.String()); text != "" {
			err = fmt.Errorf("%s", text)
		}
	}
	return string(out), err
}
