package main

import (
	"fmt"
	"github.com/manifoldco/promptui"
)

func main() {
	fmt.Println(promptui.Styler(promptui.FGRed)("x") != "", promptui.IconGood != "")
	p := promptui.Prompt{Label: "Number", Validate: func(s string) error { return nil }}
	fmt.Println(p.Label)
}
