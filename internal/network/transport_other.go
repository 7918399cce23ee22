//go:build !linux

package network

import (
	"syscall"
	"time"
)

// setUserTimeout does nothing on systems without TCP_USER_TIMEOUT.
func setUserTimeout(syscall.RawConn, time.Duration) error { return nil }
