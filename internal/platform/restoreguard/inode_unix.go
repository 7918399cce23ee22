//go:build unix

package restoreguard

import (
	"fmt"
	"os"
	"syscall"
)

// inodeOf is a file's number. That of its device is left out: machines count devices anew at each start.
func inodeOf(file string) (uint64, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, fmt.Errorf("looking at the database's file: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, nil
	}
	return stat.Ino, nil
}
