package standin

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Controls are files that set the clock of running servers and suspend their jobs. The servers read the files at
// each use, so changes take effect on all of them immediately.
type Controls struct{ Dir string }

// Now returns the real time plus the offset.
func (c Controls) Now() time.Time { return time.Now().Add(c.Offset()) }

// Offset returns how far the clock is ahead of the real time.
func (c Controls) Offset() time.Duration {
	raw, err := os.ReadFile(filepath.Join(c.Dir, "clock"))
	if err != nil {
		return 0 // no file: no offset
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		panic(err)
	}
	return time.Duration(n)
}

// SetOffset sets how far the clock is ahead of the real time.
func (c Controls) SetOffset(by time.Duration) error {
	fresh := filepath.Join(c.Dir, "clock.new")
	if err := os.WriteFile(fresh, []byte(strconv.FormatInt(int64(by), 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(c.Dir, "clock")) // readers never see a partial file
}

// Suspended reports whether jobs are suspended.
func (c Controls) Suspended() bool {
	_, err := os.Stat(filepath.Join(c.Dir, "held"))
	return err == nil
}

// Suspend suspends or resumes jobs.
func (c Controls) Suspend(suspend bool) error {
	path := filepath.Join(c.Dir, "held")
	if suspend {
		return os.WriteFile(path, nil, 0o600)
	}
	return os.Remove(path)
}
