package main

import (
	"fmt"
	tea "github.com/charmbracelet/bubbletea"
	"io"
	"strings"
)

type model struct{ n int }

func (m model) Init() tea.Cmd { return nil }
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyMsg); ok {
		for _, r := range k.String() {
			switch r {
			case 'j':
				m.n++
			case 'k':
				m.n--
			case 'q':
				return m, tea.Quit
			}
		}
	}
	return m, nil
}
func (m model) View() string { return fmt.Sprint("n is ", m.n) }

func main() {
	p := tea.NewProgram(model{}, tea.WithInput(strings.NewReader("jjjkq")), tea.WithOutput(io.Discard), tea.WithoutSignalHandler())
	m, err := p.Run()
	fmt.Println(m.(model).n, err)
}
