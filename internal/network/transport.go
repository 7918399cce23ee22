package network

import (
	"net"
	"net/http"
	"syscall"
	"time"
)

// userTimeout limits how long sent data may remain unacknowledged (TCP_USER_TIMEOUT, RFC 5482). By default, the kernel
// retransmits for minutes, even after the process has exited. A post could then still arrive after pressroom considers
// it lost.
const userTimeout = 20 * time.Second

// Transport returns a copy of Go's default transport that closes a connection if the peer stops acknowledging data.
func Transport() *http.Transport {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t = &http.Transport{Proxy: http.ProxyFromEnvironment} // The program replaced DefaultTransport.
	}
	t = t.Clone()
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second,
		Control: func(_, _ string, conn syscall.RawConn) error {
			return setUserTimeout(conn, userTimeout)
		}}
	t.DialContext = dialer.DialContext
	return t
}
