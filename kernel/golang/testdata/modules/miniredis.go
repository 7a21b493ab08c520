package main

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func main() {
	s, err := miniredis.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	r := redis.NewClient(&redis.Options{Addr: s.Addr()})
	fmt.Println(r.Set(ctx, "k", "v", 0).Err())
	fmt.Println(r.Get(ctx, "k").Result())
	fmt.Println(r.Incr(ctx, "n").Val(), r.LPush(ctx, "l", "a", "b").Val(), r.LRange(ctx, "l", 0, -1).Val())
	_, err = r.Get(ctx, "none").Result()
	fmt.Println(err == redis.Nil)
}
