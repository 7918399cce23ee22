package blob

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed creates a file without a name in the folder's file system (open(2), O_TMPFILE). Not all file systems
// support this.
func openUnnamed(folder string) (*os.File, error) {
	f, err := os.OpenFile(folder, unix.O_TMPFILE|os.O_RDWR, 0o600) //nolint:gosec // G304: the operator's folder
	if err != nil {
		return nil, fmt.Errorf("creating an unnamed file: %w", err)
	}
	return f, nil
}

// linkUnnamed gives an unnamed file a name, which must be unused. This requires /proc.
func linkUnnamed(f, folder *os.File, name string) error {
	from := "/proc/self/fd/" + strconv.FormatUint(uint64(f.Fd()), 10)
	if err := unix.Linkat(unix.AT_FDCWD, from, int(folder.Fd()), name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return fmt.Errorf("naming the file: %w", err)
	}
	return nil
}
