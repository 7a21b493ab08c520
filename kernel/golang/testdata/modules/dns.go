package main

import (
	"fmt"

	"github.com/miekg/dns"
)

func main() {
	m := new(dns.Msg)
	m.SetQuestion("example.com.", dns.TypeMX)
	m.Id = 7
	b, err := m.Pack()
	fmt.Println(len(b), err)
	var n dns.Msg
	fmt.Println(n.Unpack(b), n.Question[0].Name, dns.TypeToString[n.Question[0].Qtype])
	rr, err := dns.NewRR("a.b. 3600 IN A 1.2.3.4")
	fmt.Println(rr, err)
}
