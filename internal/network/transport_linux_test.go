package network_test

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The transport sets TCP_USER_TIMEOUT, so that the kernel soon stops retransmitting after the process has exited.
func TestUserTimeout(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	defer listener.Close()
	conn := must.Get(network.Transport().DialContext(t.Context(), "tcp", listener.Addr().String()))(t)
	defer conn.Close()
	raw := must.Get(conn.(*net.TCPConn).SyscallConn())(t)
	var after int
	var failed error
	err = raw.Control(func(fd uintptr) {
		after, failed = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	})
	if err != nil || failed != nil || after != 20_000 {
		t.Errorf("after %d ms (%v, %v)", after, err, failed)
	}
}
