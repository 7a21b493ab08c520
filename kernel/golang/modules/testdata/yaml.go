package main

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

type conf struct {
	Name  string         `yaml:"name"`
	Sizes []int          `yaml:"sizes,omitempty"`
	Kids  []kid          `yaml:"kids,omitempty"`
	M     map[string]int `yaml:"m,omitempty"`
}

type kid struct {
	Name string         `yaml:"name"`
	M    map[string]int `yaml:"m,omitempty"`
}

type level int

func (l *level) UnmarshalYAML(n *yaml.Node) error {
	*l = level(len(n.Value))
	return nil
}

func main() {
	var c conf
	fmt.Println(yaml.Unmarshal([]byte("name: x\nsizes: [1, 2]\nkids:\n- name: y\n  m: {a: 1}\n"), &c))
	fmt.Printf("%+v\n", c)
	b, err := yaml.Marshal(c)
	fmt.Print(string(b), err, "\n")
	fmt.Println(yaml.Unmarshal([]byte("name: [1"), &c))
	var n yaml.Node
	yaml.Unmarshal([]byte("a: 1 # note"), &n)
	fmt.Println(n.Content[0].Content[1].Value, n.Content[0].Content[1].LineComment)
	var t struct{ At level }
	fmt.Println(yaml.Unmarshal([]byte("at: high"), &t), t.At)
}
