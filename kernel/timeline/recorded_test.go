package timeline_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/trace"
	"gocuda/kernel/timeline"
)

// wellFormed checks XML, and gives its words.
func wellFormed(t *testing.T, source string) (words string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(source))
	d.Strict = true
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatalf("%v in %s", err, source)
		}
		if text, ok := token.(xml.CharData); ok {
			words += strings.TrimSpace(string(text)) + "|"
		}
	}
}

const us = time.Microsecond

func recordedOf(title string, boxes ...trace.Box) *timeline.Recorded {
	for i := range boxes {
		boxes[i].ID = i + 1
	}
	return &timeline.Recorded{Timeline: &trace.Timeline{Title: title, Clock: "CUPTI", Boxes: boxes}}
}

func box(lane, kind, name string, begin, end time.Duration) trace.Box {
	return trace.Box{Lane: lane, Kind: kind, Name: name, Place: trace.Place{Cell: "In[3]", Line: 2}, Begin: begin, End: end}
}

// A picture has the boxes with their names, bytes, rates and lines, and the table's sums.
func TestRecordedIsDrawn(t *testing.T) {
	in := box("a", trace.Copy, "pinned host to device", 1000*us, 1100*us)
	in.Bytes = 1_000_000
	r := recordedOf("In[3]", in, box("a", trace.Kernel, "f<float>", 1100*us, 1130*us), box("b", trace.StreamWait, "cuStreamWaitEvent", 1000*us, 1130*us),
		box("b", trace.Kernel, "f<float>", 1130*us, 1140*us))
	b, err := r.Draw()
	if err != nil {
		t.Fatal(err)
	}
	words := wellFormed(t, b.Data["image/svg+xml"].(string))
	for _, want := range []string{"In[3]|", "GPU 0 · a", "GPU 0 · b", "copy: pinned host to device\n100µs from 0s\n1000000 bytes\n10 GB/s\nIn[3], line 2", "kernel: f<float>\n30µs from 100µs", "µs|"} {
		if !strings.Contains(words, want) {
			t.Errorf("the picture lacks %q: %s", want, words)
		}
	}
	page := b.Data["text/html"].(string)
	wellFormed(t, "<page>"+page+"</page>")
	text := b.Data["text/plain"].(string)
	for _, want := range []string{"kernel       f<float>               2      40 µs   20 µs   10 µs   30 µs   28.6 %", "976.6 KiB  10", "Device 0: busy 140 µs of 140 µs; kernels 40 µs, copies 100 µs, of which 0 ns (0 %) ran beside kernels."} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if !strings.Contains(page, "f&lt;float&gt;") || !strings.Contains(page, "<img") || strings.Contains(page, "<svg") {
		t.Errorf("the page is %s", page)
	}
}

func TestTwoOnOneAxis(t *testing.T) {
	before, after := recordedOf("before", box("a", trace.Kernel, "f", 5*us, 105*us)), recordedOf("after", box("a", trace.Kernel, "f", 90_000*us, 90_050*us))
	b, err := timeline.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	words := wellFormed(t, b.Data["image/svg+xml"].(string))
	for _, want := range []string{"before and after", "before · GPU 0 · a", "after · GPU 0 · a", "f\n50µs from 0s", "from 0 to 100 µs"} {
		if !strings.Contains(words, want) {
			t.Errorf("the picture lacks %q: %s", want, words)
		}
	}
	if _, err := timeline.Compare(before); err == nil {
		t.Error("one timeline is compared")
	}
	if _, err := timeline.Compare(before, recordedOf("empty")); err == nil || !strings.Contains(err.Error(), "timeline 1 has no boxes") {
		t.Error(err)
	}
}

func TestSaveTheLast(t *testing.T) {
	timeline.SetLast(nil)
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := timeline.Save(path); err == nil || !strings.Contains(err.Error(), "%%timeline") {
		t.Error(err)
	}
	timeline.SetLast(recordedOf("In[1]", box("a", trace.Kernel, "f", 0, us)))
	if err := timeline.Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) || !strings.Contains(string(text), `"traceEvents"`) {
		t.Errorf("%s", text)
	}
}
