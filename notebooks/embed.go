// Package notebooks holds the tutorials.
package notebooks

import "embed"

// FS holds the notebooks, by file name.
//
//go:embed *.ipynb
var FS embed.FS
