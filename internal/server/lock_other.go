//go:build !unix

package server

import (
	"fmt"
	"os"
)

// Lock only creates the file, because this system does not support locks that end with the process.
func Lock(path, _ string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating the lock file %s: %w", path, err)
	}
	return f, nil
}
