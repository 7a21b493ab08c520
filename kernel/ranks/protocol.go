package ranks

import (
	"encoding/json"

	"gocuda/kernel/session/link"
)

// The kinds of frames between the pool and a rank that mpirun started. A
// request and its answer carry the same id.
const (
	// From the pool.
	kindRun       = byte(iota + 1) // session.Cell; answered by kindResult
	kindInterrupt                  // the running cell
	kindComplete                   // question
	kindInspect                    // question
	kindWhere                      // answered by kindAnswer
	kindTyped                      // typed: answers kindAsk
	kindQuit
	// From the rank.
	kindHello  // hello
	kindOutput // session.Output
	kindResult // session.Result
	kindAnswer // answer
	kindAsk    // asked
	kindEnded  // string: how its evaluator ended
)

// hello is the first frame of a rank.
type hello struct {
	Rank int    `json:"rank"`
	Pid  int    `json:"pid"`
	Host string `json:"host"`
}

type question struct {
	Code   string `json:"code"`
	Cursor int    `json:"cursor"`
	Detail int    `json:"detail"`
}

type answer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Err   string          `json:"err,omitempty"`
}

type asked struct {
	Prompt   string `json:"prompt"`
	Password bool   `json:"password"`
}

type typed struct {
	Text        string `json:"text"`
	Err         string `json:"err,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`
}

func send(c *link.Conn, kind byte, id uint64, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.Send(link.Frame{Kind: kind, ID: id, Body: b})
}
