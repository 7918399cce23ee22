package network

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter bounds how long what is written may go without an acknowledgement (RFC 5482).
func giveUpAfter(conn syscall.RawConn, after time.Duration) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
	})
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("bounding a connection: %w", err)
	}
	return nil
}
