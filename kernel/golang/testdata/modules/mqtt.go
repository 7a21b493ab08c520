package main

import (
	"bytes"
	"fmt"
	"github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
)

func main() {
	o := mqtt.NewClientOptions().AddBroker("tcp://127.0.0.1:1").SetClientID("c").SetConnectRetry(false)
	c := mqtt.NewClient(o)
	t := c.Connect()
	t.Wait()
	fmt.Println(t.Error() != nil, c.IsConnected())
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.TopicName, p.Payload, p.Qos, p.MessageID = "a/b", []byte("hi"), 1, 7
	var b bytes.Buffer
	fmt.Println(p.Write(&b), b.Bytes())
	q, err := packets.ReadPacket(&b)
	fmt.Println(q, err)
}
