package blob

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed makes a file in a folder's file system that has no name yet (open(2), O_TMPFILE). Not every file system
// can.
func openUnnamed(folder string) (*os.File, error) {
	f, err := os.OpenFile(folder, unix.O_TMPFILE|os.O_RDWR, 0o600) //nolint:gosec // G304: the operator says which folder
	if err != nil {
		return nil, fmt.Errorf("making a file without a name: %w", err)
	}
	return f, nil
}

// linkUnnamed gives such a file a name that no other file has. It needs /proc.
func linkUnnamed(f, folder *os.File, name string) error {
	from := "/proc/self/fd/" + strconv.FormatUint(uint64(f.Fd()), 10)
	if err := unix.Linkat(unix.AT_FDCWD, from, int(folder.Fd()), name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return fmt.Errorf("naming the file: %w", err)
	}
	return nil
}
