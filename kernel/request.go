package kernel

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// request is a message being handled.
type request struct {
	*wire.Message
	channel  wire.Channel
	shell    *shell         // that handles it; nil: it came by control
	metadata map[string]any // of the reply
}

// decode reads the message's content into v.
func (r *request) decode(v any) error {
	if err := json.Unmarshal(r.Content, v); err != nil {
		return fmt.Errorf("content of %s: %w", r.Header.Type, err)
	}
	return nil
}

// A handler returns the content of the reply; nil sends none (comm messages
// have none). An error is sent as a reply of status error.
type handler func(*kernel, *request) (any, error)

var handlers = map[wire.Channel]map[string]handler{
	wire.Shell: {
		"kernel_info_request": (*kernel).kernelInfo,
		"execute_request":     (*kernel).execute,
		"is_complete_request": (*kernel).isComplete,
		"complete_request":    (*kernel).complete,
		"inspect_request":     (*kernel).inspect,
		"history_request":     (*kernel).historyRequest,
		"comm_info_request":   (*kernel).commInfo,
		"comm_open":           (*kernel).commOpen,
		"comm_msg":            (*kernel).commMsg,
		"comm_close":          (*kernel).commClose,
		"shutdown_request":    (*kernel).shutdown,
	},
	wire.Control: {
		"kernel_info_request": (*kernel).kernelInfo,
		"interrupt_request":   (*kernel).interruptRequest,
		"shutdown_request":    (*kernel).shutdown,
		"debug_request":       (*kernel).debug,

		"create_subshell_request": (*kernel).createSubshell,
		"delete_subshell_request": (*kernel).deleteSubshell,
		"list_subshell_request":   (*kernel).listSubshells,
	},
}

// errorReply is the content of a reply of status error.
type errorReply struct {
	Status    string   `json:"status"`
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

func newErrorReply(name, value string) errorReply {
	return errorReply{"error", name, value, []string{name + ": " + value}}
}

// handle answers one message: busy, what the handler publishes, the reply,
// idle.
func (k *kernel) handle(ch wire.Channel, s *shell, m *wire.Message) {
	r := &request{Message: m, channel: ch, shell: s}
	k.status(m, "busy")
	content := k.content(r)
	if content != nil {
		k.reply(r, content)
	}
	k.status(m, "idle")
	session.FreeAfter(m.Size())
}

// content runs the handler. What goes wrong in it, a panic too, is an answer
// and not the end of the kernel.
func (k *kernel) content(r *request) (content any) {
	request, isRequest := strings.CutSuffix(r.Header.Type, "_request")
	defer func() {
		if p := recover(); p != nil {
			k.log.Error("a handler panicked", "type", r.Header.Type, "panic", p, "stack", string(debug.Stack()))
			content = nil
			if isRequest {
				content = newErrorReply("KernelError", fmt.Sprint(p))
			}
		}
	}()
	handle, known := k.handlers[r.channel][r.Header.Type]
	if !known {
		k.log.Warn("unknown message", "channel", r.channel, "type", r.Header.Type)
		if !isRequest {
			return nil
		}
		return newErrorReply("UnknownMessage",
			fmt.Sprintf("this kernel does not answer %s on the %s channel", request+"_request", r.channel))
	}
	if r.shell == k.main && r.Header.Subshell != "" { // which was there, perhaps
		handle = (*kernel).noSubshell
	}
	content, err := handle(k, r)
	if err != nil {
		k.log.Info("request failed", "type", r.Header.Type, "error", err)
		if !isRequest {
			return nil
		}
		return newErrorReply("RequestError", err.Error())
	}
	return content
}

func (k *kernel) reply(r *request, content any) {
	out := wire.Outgoing{
		Type:    strings.TrimSuffix(r.Header.Type, "_request") + "_reply",
		Parent:  r.Message,
		Content: content,
	}
	if r.metadata != nil {
		out.Metadata = r.metadata
	}
	if err := k.sockets.Send(r.channel, r.Identities, out); err != nil {
		k.log.Info("no reply", "error", err)
	}
}

// status publishes the kernel's state: starting, busy or idle.
func (k *kernel) status(parent *wire.Message, state string) {
	k.publish("status", parent, map[string]string{"execution_state": state})
}

// publish sends a message to every front end.
func (k *kernel) publish(kind string, parent *wire.Message, content any) error {
	err := k.sockets.Publish(wire.Outgoing{Type: kind, Parent: parent, Content: content})
	if err != nil {
		k.log.Warn("cannot publish", "error", err)
	}
	return err
}
