//go:build unix

package server

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockDir keeps a second process off a quickstart directory: it would move the sandbox networks away from under
// the first. The lock goes with the process, however it ends.
func lockDir(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the directory of --data: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(errors.New("another pressroom runs on this directory: stop it, or choose another with --data"), f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking the directory of --data: %w", err), f.Close())
	}
	return f, nil
}
