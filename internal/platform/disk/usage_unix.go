//go:build linux || darwin || freebsd

package disk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// usage returns the number of free bytes and the total number of bytes of a folder's volume, from statfs(2).
func usage(folder string) (int64, int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, 0, fmt.Errorf("reading the free space of %s: %w", folder, err)
	}
	size := int64(st.Bsize)                                      //nolint:unconvert // its type differs between systems
	return int64(st.Bavail) * size, int64(st.Blocks) * size, nil //nolint:gosec // no volume has so many bytes
}
