package main

import (
	"fmt"
	"github.com/vishvananda/netlink"
)

func main() {
	l, err := netlink.LinkByName("lo")
	fmt.Println(l.Attrs().Name, l.Type(), err)
}
