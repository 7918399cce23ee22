package network_test

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"pressroom/internal/network"
)

// After its process has exited, the kernel does not retransmit for longer than other processes wait.
func TestUserTimeout(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := network.Transport().DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var after int
	var failed error
	err = raw.Control(func(fd uintptr) {
		after, failed = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	})
	if err != nil || failed != nil || after != 20_000 {
		t.Errorf("after %d ms (%v, %v)", after, err, failed)
	}
}
