package cuda

import (
	"fmt"
	"html"
	"strings"

	"gocuda/cudaapi/driver"
)

// Link describes how one device reaches another's memory.
type Link struct {
	From, To int  // ordinals
	Access   bool // peer access is possible
	Enabled  bool // and was enabled by EnablePeerAccess
	Atomics  bool // atomics work natively across the link
	Rank     int  // of performance; 0 is the fastest kind of link
}

// PeerMatrix is the links between all devices; [i][j] is from i to j.
type PeerMatrix [][]Link

// Peers is how the devices reach each other.
func Peers() (PeerMatrix, error) {
	devices, err := Devices()
	if err != nil {
		return nil, err
	}
	m := make(PeerMatrix, len(devices))
	for i, from := range devices {
		m[i] = make([]Link, len(devices))
		for j, to := range devices {
			l := Link{From: i, To: j}
			if i != j {
				if l.Access, err = from.CanAccessPeer(to); err != nil {
					return nil, err
				}
				if l.Rank, err = from.P2PAttribute(driver.PerformanceRank, to); err != nil {
					return nil, err
				}
				atomics, err := from.P2PAttribute(driver.NativeAtomicSupported, to)
				if err != nil {
					return nil, err
				}
				l.Atomics, l.Enabled = atomics != 0, from.PeerAccessEnabled(to)
			}
			m[i][j] = l
		}
	}
	return m, nil
}

func (l Link) String() string {
	switch {
	case l.From == l.To:
		return "-"
	case !l.Access:
		return "no"
	}
	s := fmt.Sprintf("rank %d", l.Rank)
	if l.Atomics {
		s += ", atomics"
	}
	if l.Enabled {
		s += ", enabled"
	}
	return s
}

// String is the matrix as text: row i, column j is from device i to device j.
func (m PeerMatrix) String() string {
	var b strings.Builder
	b.WriteString("from\\to")
	for j := range m {
		fmt.Fprintf(&b, "  %-24d", j)
	}
	for i, row := range m {
		fmt.Fprintf(&b, "\n%-7d", i)
		for _, l := range row {
			fmt.Fprintf(&b, "  %-24s", l)
		}
	}
	return b.String()
}

// HTML is the matrix as a table.
func (m PeerMatrix) HTML() string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>from \\ to</th>")
	for j := range m {
		fmt.Fprintf(&b, "<th>%d</th>", j)
	}
	b.WriteString("</tr></thead><tbody>")
	for i, row := range m {
		fmt.Fprintf(&b, "<tr><th>%d</th>", i)
		for _, l := range row {
			b.WriteString("<td>" + html.EscapeString(l.String()) + "</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
