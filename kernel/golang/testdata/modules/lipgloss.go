package main

import (
	"fmt"

	"github.com/charmbracelet/lipgloss"
	"github.com/mattn/go-runewidth"
)

func main() {
	s := lipgloss.NewStyle().Bold(true).Padding(1, 2).Border(lipgloss.NormalBorder()).Width(12)
	fmt.Println(s.Render("hello"))
	fmt.Println(lipgloss.JoinHorizontal(lipgloss.Top, "a\nb", "c"), lipgloss.Width("日本"), runewidth.StringWidth("日本x"))
}
