//go:build unix

package server

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock keeps a second process off what a file stands for; taken says so. It goes with the process, however it ends.
func Lock(path, taken string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(errors.New(taken), f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	if !named(f, path) { // whoever had it took its file away
		return nil, errors.Join(errors.New(taken), f.Close())
	}
	return f, nil
}

// named tells whether a file is still the one of a name.
func named(f *os.File, path string) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(locked, there)
}
