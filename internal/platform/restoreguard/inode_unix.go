//go:build unix

package restoreguard

import (
	"fmt"
	"os"
	"syscall"
)

// readInode returns a file's inode number, or 0 if the system does not report one. The device number is not used,
// because it can change at each boot.
func readInode(file string) (uint64, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, fmt.Errorf("reading the inode of the database file: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, nil
	}
	return stat.Ino, nil
}
