package network

import (
	"net"
	"net/http"
	"syscall"
	"time"
)

// unheard is for how long what was written to a connection may go without an acknowledgement. The kernel would send it
// again and again for minutes, also for a process that is gone, and a post would come to a network that is believed
// not to have it.
const unheard = 20 * time.Second

// Transport is Go's own, with connections that are given up where the other side does not take what they are given.
func Transport() *http.Transport {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t = &http.Transport{Proxy: http.ProxyFromEnvironment} // somebody has put another in its place
	}
	t = t.Clone()
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second,
		Control: func(_, _ string, conn syscall.RawConn) error {
			return giveUpAfter(conn, unheard)
		}}
	t.DialContext = dialer.DialContext
	return t
}
