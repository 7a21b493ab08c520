package cuda

import (
	"errors"
	"fmt"
	"html"
	"strings"

	"gocuda/cudaapi/driver"
)

// DeviceList is a list of devices that a notebook shows as a table.
type DeviceList []*Device

func isCode(err error, code driver.Code) bool { return err != nil && errors.Is(err, code) }

// byteCount writes a size with a binary unit.
func byteCount(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.4g %s", v, units[i])
}

// facts are what a device's line in a table says.
func (d *Device) facts() []string {
	memory, capability, sms := "?", "?", "?"
	if n, err := d.TotalMemory(); err == nil {
		memory = byteCount(n)
	}
	if major, minor, err := d.ComputeCapability(); err == nil {
		capability = fmt.Sprintf("%d.%d", major, minor)
	}
	if n, err := d.MultiprocessorCount(); err == nil {
		sms = fmt.Sprint(n)
	}
	return []string{fmt.Sprint(d.id), d.Name(), memory, capability, sms}
}

func (d *Device) String() string {
	f := d.facts()
	return fmt.Sprintf("device %s: %s, %s, compute capability %s, %s SMs", f[0], f[1], f[2], f[3], f[4])
}

// HTML is the device as a table of one line.
func (d *Device) HTML() string { return DeviceList{d}.HTML() }

func (l DeviceList) String() string {
	var lines []string
	for _, d := range l {
		lines = append(lines, d.String())
	}
	if len(lines) == 0 {
		return "no devices"
	}
	return strings.Join(lines, "\n")
}

// HTML is the list as a table.
func (l DeviceList) HTML() string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>device</th><th>name</th><th>memory</th><th>compute capability</th><th>SMs</th></tr></thead><tbody>")
	for _, d := range l {
		b.WriteString("<tr>")
		for _, f := range d.facts() {
			b.WriteString("<td>" + html.EscapeString(f) + "</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

func (b *Buffer) String() string {
	if b == nil || b.own == nil {
		return "no buffer"
	}
	state := ""
	if b.own.freed(b.generation) {
		state = ", freed"
	}
	return fmt.Sprintf("%d %s on device %d (%s, %s at %#x%s)", b.n, b.typ, b.own.dev.id, byteCount(uint64(b.Bytes())), b.own.kind, uint64(b.ptr), state)
}

func (h *HostBuffer) String() string {
	if h == nil || h.own == nil {
		return "no host buffer"
	}
	state := ""
	if h.own.freed(0) {
		state = ", freed"
	}
	return fmt.Sprintf("%d %s on the host (%s, %s at %#x%s)", h.n, h.typ, byteCount(uint64(h.Bytes())), h.own.kind, uint64(h.ptr), state)
}

func (p *Pool) String() string {
	switch {
	case p == nil || p.dev == nil:
		return "no pool"
	case p.closed.Load():
		return "destroyed pool"
	}
	text := "pool"
	if p.builtin {
		text = "default pool"
	}
	text += fmt.Sprintf(" of device %d", p.dev.id)
	used, err := p.Used()
	if err != nil {
		return text
	}
	reserved, err := p.Reserved()
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s (%s used of %s reserved)", text, byteCount(used), byteCount(reserved))
}

// String lists the module's kernels, a line each.
func (m *Module) String() string {
	if m == nil {
		return "no module"
	}
	var lines []string
	for _, k := range m.Kernels() {
		lines = append(lines, k.String())
	}
	if m.image != nil {
		lines = append(lines, "a module of compiled code")
	}
	if len(lines) == 0 {
		return "a module without kernels"
	}
	return strings.Join(lines, "\n")
}

func (g *Graph) String() string {
	nodes, err := g.Nodes()
	if err != nil {
		return "no graph: " + err.Error()
	}
	text := fmt.Sprintf("graph of %d nodes on device %d", len(nodes), g.dev.id)
	if len(nodes) > 0 {
		text += " (" + strings.Join(nodes, ", ") + ")"
	}
	return text
}

func (x *GraphExec) String() string {
	if _, err := x.use("GraphExec.String"); err != nil {
		return "no graph: " + err.Error()
	}
	return fmt.Sprintf("instantiated graph %#x of device %d", uint64(x.h), x.dev.id)
}

func (p *Prepared) String() string {
	return fmt.Sprintf("%s, prepared: grid %v, blocks of %v, %v", p.kernel.code.name, p.grid, p.block, p.stream)
}
