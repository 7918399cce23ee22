package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// errPrivate is what the log is told of a name none of whose addresses is a public one.
var errPrivate = errors.New("no public address behind the name")

// wireServer is Azure's metadata service, on an address that looks like a public one; those of other clouds are in
// networks that no registry calls public.
var wireServer = netip.MustParsePrefix("168.63.129.16/32")

// newGuard makes what looks at addresses as they are dialled. It refuses by itself whatever IANA's registries of
// special-purpose addresses (RFC 6890) hold, and everything in IPv6 outside of 2000::/3.
func newGuard(allow hosts, port uint16) *ssrf.Guardian {
	var v4, v6 []netip.Prefix
	for _, network := range allow.networks {
		if network.Addr().Is4() {
			v4 = append(v4, network)
		} else {
			v6 = append(v6, network)
		}
	}
	return ssrf.New(ssrf.WithPorts(port), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(wireServer))
}

// dial connects to a host. Each address is looked at between its socket's making and its connecting, so that nothing
// can resolve to something else in between.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("reading host and port: %w", err)
	}
	var private, public atomic.Bool // addresses of both families are tried at once
	dialer := net.Dialer{Timeout: connectWithin, Resolver: c.opts.Resolver}
	if !c.allow.has(host) {
		address = net.JoinHostPort(host+".", port) // with the dot, this machine's search domains are not appended
		dialer.Control = func(network, address string, conn syscall.RawConn) error {
			err := c.guard.Safe(network, address, conn)
			private.CompareAndSwap(false, err != nil)
			public.CompareAndSwap(false, err == nil)
			return err //nolint:wrapcheck // nobody sees it
		}
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil && private.Load() && !public.Load() {
		return nil, errPrivate
	}
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return idle{conn, c.opts.Idle}, nil
}

// idle is a connection that breaks where nothing moves for so long, in the handshake as in the body.
type idle struct {
	net.Conn

	most time.Duration
}

func (c idle) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.most)); err != nil {
		return 0, fmt.Errorf("setting how long to wait: %w", err)
	}
	return c.Conn.Read(p) //nolint:wrapcheck // io.EOF has to stay itself
}

func (c idle) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.most)); err != nil {
		return 0, fmt.Errorf("setting how long to wait: %w", err)
	}
	return c.Conn.Write(p) //nolint:wrapcheck // as Read
}
