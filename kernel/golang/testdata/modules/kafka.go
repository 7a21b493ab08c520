package main

import (
	"fmt"
	"github.com/segmentio/kafka-go"
)

func main() {
	b := &kafka.Hash{}
	for _, k := range []string{"a", "b", "c"} {
		fmt.Println(b.Balance(kafka.Message{Key: []byte(k)}, 0, 1, 2))
	}
	w := &kafka.Writer{Addr: kafka.TCP("127.0.0.1:1"), Topic: "t", MaxAttempts: 1}
	fmt.Println(w.Stats().Topic, w.Close(), kafka.LeaderNotAvailable, kafka.LeaderNotAvailable.Temporary())
}
