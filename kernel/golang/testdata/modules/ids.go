package main

import (
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
)

type zero struct{}

func (zero) Read(p []byte) (int, error) { return len(p), nil }

func main() {
	id := ulid.MustNew(ulid.Timestamp(time.Unix(1000, 0)), zero{})
	fmt.Println(id, id.Time())
	k, err := ksuid.FromParts(time.Unix(1600000000, 0), make([]byte, 16))
	fmt.Println(k, err, len(xid.New().String()))
	x, err := xid.FromString("9m4e2mr0ui3e8a215n4g")
	fmt.Println(x.Time().Unix(), x.Counter(), err)
}
