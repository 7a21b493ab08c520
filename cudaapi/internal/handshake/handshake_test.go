package handshake_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipctest"
)

type card struct {
	rank int32
	name [12]byte
}

func TestHandshakes(t *testing.T) {
	const n = 4
	ranks := ipctest.NewRanks(n)
	errs := ipctest.Each(n, func(r int) error {
		over := handshake.Over(ranks[r], handshake.TagCall)
		mine := card{rank: int32(r)}
		copy(mine.name[:], strings.Repeat("x", r))
		all, err := handshake.Gather(over, mine)
		if err != nil {
			return err
		}
		for i, c := range all {
			if int(c.rank) != i || len(handshake.Text(c.name[:])) != i {
				return errors.New("another rank's card")
			}
		}
		for wrong := range n + 2 {
			good, err := handshake.All(over, r != wrong)
			if err != nil || good != (wrong >= n) {
				return errors.New("All says something else")
			}
			var mine error
			if r == wrong || r == wrong-1 {
				mine = errors.New(strings.Repeat("long ", 100))
			}
			numbers, err := handshake.Agree(over, r, mine)
			switch first := max(wrong-1, 0); {
			case wrong <= n:
				if err == nil || !strings.HasPrefix(err.Error(), "rank "+string(rune('0'+first))+": long long") {
					return errors.Join(errors.New("Agree says something else"), err)
				}
			case err != nil || !slices.Equal(numbers, []int{0, 1, 2, 3}):
				return errors.Join(errors.New("Agree gives other numbers"), err)
			}
		}
		empty := errors.New("")
		if r > 0 {
			empty = nil
		}
		if _, err := handshake.Agree(over, r, empty); err == nil {
			return errors.New("an error without text is none")
		}
		_, err = handshake.Agree(over, struct{}{}, nil)
		return err
	})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	ranks[1].Lose()
	if _, err := handshake.Gather(handshake.Over(ranks[0], handshake.TagCall), 1); !errors.Is(err, ipctest.ErrLost) {
		t.Errorf("a rank that is lost: %v", err)
	}
}
