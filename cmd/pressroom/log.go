package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/mattn/go-isatty"
)

// newLog returns a logger that writes text to a terminal and JSON elsewhere, unless format says otherwise.
func newLog(w io.Writer, level, format string) (*slog.Logger, error) {
	var at slog.Level
	if err := at.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	opts := &slog.HandlerOptions{Level: at}
	if f, ok := w.(*os.File); format == "text" || format == "auto" && ok && isatty.IsTerminal(f.Fd()) {
		return slog.New(slog.NewTextHandler(w, opts)), nil
	}
	return slog.New(slog.NewJSONHandler(w, opts)), nil
}
