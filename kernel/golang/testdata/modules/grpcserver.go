package main

import (
	"context"
	"fmt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"
	"net"
)

func main() {
	lis := bufconn.Listen(1 << 16)
	s := grpc.NewServer()
	h := health.NewServer()
	h.SetServingStatus("svc", healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(s, h)
	go s.Serve(lis)
	defer s.Stop()
	conn, err := grpc.NewClient("passthrough:///x", grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	c := healthpb.NewHealthClient(conn)
	r, err := c.Check(context.Background(), &healthpb.HealthCheckRequest{Service: "svc"})
	fmt.Println(r.GetStatus(), err)
	_, err = c.Check(context.Background(), &healthpb.HealthCheckRequest{Service: "none"})
	fmt.Println(err)
}
