package kernel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// connectTime is what a front end has, after its first request, to connect its
// stdin channel.
const connectTime = time.Second

// input asks the front end that sent the running cell, over its stdin channel,
// and waits for the answer.
func (k *kernel) input(prompt string, password bool) (string, error) {
	c := &k.main.cell
	c.mu.Lock()
	parent, allowed, interrupt := c.parent, c.input, c.interrupt
	c.mu.Unlock()
	if !allowed {
		return "", errors.New("this front end does not take input")
	}
	answers := k.sockets.Messages(wire.Stdin)
	for len(answers) > 0 { // answers that came too late for an earlier question
		<-answers
	}
	question := wire.Outgoing{
		Type: "input_request", Parent: parent,
		Content: map[string]any{"prompt": prompt, "password": password},
	}
	deadline := time.Now().Add(connectTime)
	for {
		err := k.sockets.Send(wire.Stdin, parent.Identities, question)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("this front end does not take input: %w", err)
		}
		time.Sleep(connectTime / 100)
	}
	for {
		select {
		case m := <-answers:
			if m.Header.Type != "input_reply" || !bytes.Equal(m.Identities[0], parent.Identities[0]) {
				k.log.Warn("unexpected message", "channel", wire.Stdin, "type", m.Header.Type)
				continue
			}
			var answer struct {
				Value string `json:"value"`
			}
			if err := json.Unmarshal(m.Content, &answer); err != nil {
				return "", fmt.Errorf("content of input_reply: %w", err)
			}
			return answer.Value, nil
		case <-interrupt:
			return "", session.ErrInterrupted
		case <-k.stop:
			return "", errEnding
		}
	}
}
