//go:build unix

package server

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock locks a file against other processes until the file is closed or this process ends. If another process holds the
// lock, the error contains busy.
func Lock(path, busy string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(errors.New(busy), f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	if !isAt(f, path) { // the process that held the lock has removed the file
		return nil, errors.Join(errors.New(busy), f.Close())
	}
	return f, nil
}

// isAt reports whether path still refers to the open file f.
func isAt(f *os.File, path string) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(locked, named)
}
