// Package notebooks holds the tutorials.
package notebooks

import "embed"

// FS holds the notebooks, and the page of words that they refer to, by file name.
//
//go:embed *.ipynb glossary.md
var FS embed.FS
