package kernel

import (
	"io"
	"log/slog"
	"os"
)

// NewLog returns the kernel's log: warnings and errors, or from the level that
// GOCUDA_LOG names on (debug, info, warn, error).
func NewLog(w io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if name := os.Getenv("GOCUDA_LOG"); name != "" {
		if err := level.UnmarshalText([]byte(name)); err != nil {
			level = slog.LevelWarn
			defer func() { slog.New(slog.NewTextHandler(w, nil)).Warn("GOCUDA_LOG", "error", err) }()
		}
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
