package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	var n int
	root := &cobra.Command{Use: "app", Short: "an app", SilenceUsage: true}
	add := &cobra.Command{Use: "add NAME", Short: "adds", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		fmt.Println("add", args, n)
		if n > 5 {
			return fmt.Errorf("too many: %d", n)
		}
		return nil
	}}
	add.Flags().IntVarP(&n, "number", "n", 1, "how many")
	root.AddCommand(add)
	root.SetOut(os.Stdout)
	root.SetErr(os.Stdout)
	for _, args := range [][]string{{"add", "x", "-n", "3"}, {"add"}, {"add", "y", "--number=9"}, {"--help"}, {"ad"}} {
		root.SetArgs(args)
		fmt.Println("=>", root.Execute())
	}
}
