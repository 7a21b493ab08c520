package main

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func main() {
	s, err := structpb.NewStruct(map[string]any{"a": 1.5})
	fmt.Println(err)
	b, err := proto.Marshal(s)
	fmt.Println(len(b), err)
	var t structpb.Struct
	fmt.Println(proto.Unmarshal(b, &t), t.Fields["a"].GetNumberValue(), proto.Equal(s, &t))
	ts := timestamppb.New(time.Unix(5, 0))
	fmt.Println(ts.AsTime().Unix())
	j, err := protojson.Marshal(ts)
	fmt.Println(string(j), err)
}
