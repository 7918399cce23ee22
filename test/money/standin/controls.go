package standin

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Controls are files with which a test sets the clock of running programs and holds their work. Programs read them each
// time, so a change applies to all programs at once.
type Controls struct{ Dir string }

// Now returns the real time, moved.
func (c Controls) Now() time.Time { return time.Now().Add(c.Offset()) }

// Offset returns by how much the clock is ahead.
func (c Controls) Offset() time.Duration {
	raw, err := os.ReadFile(filepath.Join(c.Dir, "clock"))
	if err != nil {
		return 0 // the clock is unchanged
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		panic(err)
	}
	return time.Duration(n)
}

// Move sets by how much the clock is ahead.
func (c Controls) Move(by time.Duration) error {
	fresh := filepath.Join(c.Dir, "clock.new")
	if err := os.WriteFile(fresh, []byte(strconv.FormatInt(int64(by), 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(c.Dir, "clock")) // readers never see a partial file
}

// ShouldWait reports whether work should wait.
func (c Controls) ShouldWait() bool {
	_, err := os.Stat(filepath.Join(c.Dir, "held"))
	return err == nil
}

// Hold makes work wait, or lets it continue.
func (c Controls) Hold(held bool) error {
	path := filepath.Join(c.Dir, "held")
	if held {
		return os.WriteFile(path, nil, 0o600)
	}
	return os.Remove(path)
}
