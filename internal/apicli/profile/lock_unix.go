//go:build unix

package profile

import (
	"os"
	"syscall"
)

// lockFile waits for the lock of a file. The lock ends when the file is closed.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) } //nolint:wrapcheck // lock adds the name
