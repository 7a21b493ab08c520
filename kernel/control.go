package kernel

import (
	"os"
	"runtime"
	"time"
)

// interruptRequest interrupts the running cell, or the one that it overtook on
// the way; without one it does nothing.
func (k *kernel) interruptRequest(r *request) (any, error) {
	k.interrupt(r.Message)
	return map[string]string{"status": "ok"}, nil
}

// shutdown replies, tells all front ends, and ends the kernel. The restart
// flag is for them; whoever started the kernel starts it again.
func (k *kernel) shutdown(r *request) (any, error) {
	var asked struct {
		Restart bool `json:"restart"`
	}
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	content := map[string]any{"status": "ok", "restart": asked.Restart}
	k.publish("shutdown_reply", r.Message, content)
	k.end() // its loops finish what they are at, this reply too
	return content, nil
}

// watchParent closes orphaned when the process that started this one is gone,
// so that no kernel stays behind when a Jupyter server is killed. Jupyter asks
// for that by setting JPY_PARENT_PID. parent is from before clients could know of
// the kernel.
func watchParent(parent int, stop <-chan struct{}, orphaned chan<- struct{}) {
	if os.Getenv("JPY_PARENT_PID") == "" || runtime.GOOS == "windows" {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			if os.Getppid() != parent {
				close(orphaned)
				return
			}
		}
	}
}
