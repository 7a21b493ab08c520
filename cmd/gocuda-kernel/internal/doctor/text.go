package doctor

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Write shows a report to a person.
func (r Report) Write(w io.Writer) {
	fmt.Fprintf(w, "gocuda-kernel %s (%s, %s/%s)\n\n", r.Version, r.Go, r.OS, r.Arch)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range r.Checks {
		fmt.Fprintf(t, "%s\t%s\t%s\n", c.Status, c.Name, strings.Join(nonEmpty(c.Version, c.Where), "  "))
	}
	t.Flush()

	if len(r.Devices) > 0 {
		fmt.Fprintf(w, "\nGPUs:\n")
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, d := range r.Devices {
			fmt.Fprintf(t, "  %d\t%s\t%.1f GiB\tcompute capability %s\t%d multiprocessors\t%s\n",
				d.Index, d.Name, float64(d.Memory)/(1<<30), d.ComputeCapability, d.Multiprocessors, d.PCI)
		}
		t.Flush()
	}
	if len(r.Devices) > 1 {
		fmt.Fprintf(w, "\nPeer access (row reaches column):\n")
		t := tabwriter.NewWriter(w, 3, 0, 1, ' ', tabwriter.AlignRight)
		for j := range r.Peers {
			fmt.Fprintf(t, "\t%d", j)
		}
		fmt.Fprintln(t, "\t")
		for i, row := range r.Peers {
			fmt.Fprintf(t, "%d", i)
			for j, yes := range row {
				fmt.Fprintf(t, "\t%s", map[bool]string{i == j: "-", i != j && yes: "yes", i != j && !yes: "no"}[true])
			}
			fmt.Fprintln(t, "\t")
		}
		t.Flush()
	}

	for _, c := range r.Checks {
		if c.Status == Found && c.Detail == "" {
			continue
		}
		fmt.Fprintf(w, "\n%s: %s\n", c.Name, c.Detail)
		if c.Advice != "" {
			fmt.Fprintf(w, "  -> %s\n", c.Advice)
		}
	}
	if len(r.Settings) > 0 {
		fmt.Fprintf(w, "\nSettings: %s\n", strings.Join(r.Settings, " "))
	}
	fmt.Fprintf(w, "\nNotebooks run on %s.\n", map[string]string{"nvidia": "these GPUs", "sim": "simulated devices"}[r.Backend])
}

func nonEmpty(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
