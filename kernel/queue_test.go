package kernel

import (
	"testing"
	"time"

	"gocuda/kernel/wire"
)

func TestSentBefore(t *testing.T) {
	failed := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ms := func(n float64) time.Time { return failed.Add(time.Duration(n * float64(time.Millisecond))) }
	message := func(sent, received time.Time) *wire.Message {
		return &wire.Message{
			Header:   wire.Header{Session: "s", Date: sent.Format("2006-01-02T15:04:05.000000Z")},
			Received: received,
		}
	}
	for _, test := range []struct {
		name           string
		skew           time.Duration // of the client's clock
		sent, received time.Time
		want           bool
	}{
		{"received before", 0, ms(-2), ms(-1), true},
		{"received before, by a clock that was set", 0, ms(1000), ms(-1), true},
		{"on its way", 0, ms(-1), ms(3), true},
		{"sent because of it", 0, ms(0.5), ms(1), false},
		{"long on its way", 0, ms(-1), ms(6000), false},
		{"an hour slow, received before", -time.Hour, ms(-2), ms(-1), true},
		{"an hour slow, on its way", -time.Hour, ms(-2), ms(3), true},
		{"an hour slow, sent because of it", -time.Hour, ms(1), ms(2), false},
		{"an hour fast, on its way", time.Hour, ms(-2), ms(3), true},
		{"an hour fast, sent because of it", time.Hour, ms(1), ms(2), false},
	} {
		c := clocks{}
		// What the failing cell's own request taught: a transfer takes 1 ms.
		c.sentBefore(message(ms(-11).Add(test.skew), ms(-10)), time.Time{})
		if got := c.sentBefore(message(test.sent.Add(test.skew), test.received), failed); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	undated := &wire.Message{Header: wire.Header{Session: "s", Date: "yesterday"}, Received: ms(1)}
	if (clocks{}).sentBefore(undated, failed) {
		t.Error("a message without a date that was received later counts as sent before")
	}
}
