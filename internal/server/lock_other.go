//go:build !unix

package server

import (
	"fmt"
	"os"
)

// lockDir only makes the file: this system has no lock that goes with the process.
func lockDir(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making the lock of --data: %w", err)
	}
	return f, nil
}
