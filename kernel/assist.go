package kernel

import (
	"unicode/utf8"

	"gocuda/kernel/session"
)

// isComplete says whether code is ready to run.
func (k *kernel) isComplete(r *request) (any, error) {
	var asked struct {
		Code string `json:"code"`
	}
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	answer := session.Completeness{Status: "unknown"}
	if e, err := k.evaluator.get(); err != nil {
		k.log.Warn("is_complete", "error", err)
	} else if got, err := e.IsComplete(asked.Code); err != nil {
		k.log.Warn("is_complete", "error", err)
	} else {
		answer = got
	}
	content := map[string]string{"status": answer.Status}
	if answer.Status == "incomplete" {
		content["indent"] = answer.Indent
	}
	return content, nil
}

// position is what complete and inspect requests have in common.
type position struct {
	Code   string `json:"code"`
	Cursor *int   `json:"cursor_pos"` // in code points; nil: at the end
	Detail int    `json:"detail_level"`
}

func (p position) offset() int {
	if p.Cursor == nil {
		return len(p.Code)
	}
	return byteOffset(p.Code, *p.Cursor)
}

// typedMatch is an entry of _jupyter_types_experimental, by which front ends
// show kinds and types beside the matches.
type typedMatch struct {
	Text      string `json:"text"`
	Type      string `json:"type"`
	Signature string `json:"signature,omitempty"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
}

// askedAt reads a request about a position, and waits for the evaluator that
// is to answer it.
func (k *kernel) askedAt(r *request) (e session.Evaluator, asked position, err error) {
	if err = r.decode(&asked); err == nil {
		e, err = k.evaluator.get()
	}
	return e, asked, err
}

// complete lists what could stand at the cursor.
func (k *kernel) complete(r *request) (any, error) {
	e, asked, err := k.askedAt(r)
	if err != nil {
		return nil, err
	}
	found, err := e.Complete(asked.Code, asked.offset())
	if err != nil {
		return nil, err
	}
	start, end := codePoints(asked.Code, found.Start), codePoints(asked.Code, found.End)
	matches, typed := []string{}, []typedMatch{}
	for _, m := range found.Matches {
		matches = append(matches, m.Text)
		typed = append(typed, typedMatch{m.Text, m.Kind, m.Signature, start, end})
	}
	return map[string]any{
		"status":       "ok",
		"matches":      matches,
		"cursor_start": start,
		"cursor_end":   end,
		"metadata":     map[string]any{"_jupyter_types_experimental": typed},
	}, nil
}

// inspect tells what the name at the cursor means.
func (k *kernel) inspect(r *request) (any, error) {
	e, asked, err := k.askedAt(r)
	if err != nil {
		return nil, err
	}
	found, err := e.Inspect(asked.Code, asked.offset(), asked.Detail)
	if err != nil {
		return nil, err
	}
	content := map[string]any{"status": "ok", "found": found != nil, "data": object(nil), "metadata": object(nil)}
	if found != nil {
		content["data"], content["metadata"] = object(found.Data), object(found.Metadata)
	}
	return content, nil
}

// byteOffset turns a position in code points into one in bytes. A position
// outside the text becomes its nearest end.
func byteOffset(text string, codePoints int) int {
	if codePoints < 0 {
		return 0
	}
	for i := range text {
		if codePoints == 0 {
			return i
		}
		codePoints--
	}
	return len(text)
}

// codePoints turns a position in bytes into one in code points.
func codePoints(text string, offset int) int {
	return utf8.RuneCountInString(text[:max(0, min(offset, len(text)))])
}

// object makes sure that JSON gets an object, never null.
func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
