//go:build unix

package profile

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file. It returns false if another process has locked the file. Closing the file unlocks it.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err //nolint:wrapcheck // lock adds the profile's name
}
