//go:build unix

package profile

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file, and reports false if another process has locked it. The lock ends when the file is closed.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err //nolint:wrapcheck // lock adds the name
}
