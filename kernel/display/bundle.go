// Package display shows values in a notebook: MIME bundles, images, tables
// and progress.
package display

// Bundle is one output in several representations, keyed by MIME type, as in
// Jupyter's display_data: text types hold strings, image/png and image/jpeg
// hold base64 text, JSON types hold any value that encoding/json takes.
type Bundle struct {
	Data      map[string]any `json:"data"`
	Metadata  map[string]any `json:"metadata,omitempty"`
	DisplayID string         `json:"display_id,omitempty"` // set: the output can be updated
}
