package main

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func main() {
	err := status.Errorf(codes.NotFound, "no %s", "x")
	fmt.Println(err, status.Code(err), codes.OK)
	md := metadata.Pairs("k", "v", "K", "w")
	fmt.Println(md.Get("k"), md.Len())
	s, ok := status.FromError(fmt.Errorf("plain"))
	fmt.Println(s.Code(), ok)
}
