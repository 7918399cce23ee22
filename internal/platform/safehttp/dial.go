package safehttp

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

// ErrPrivate is met instead of a connection where none of a host's addresses is a public one, or its port is not 443,
// and the operator does not allow the host.
var ErrPrivate = errors.New("no public address behind the name")

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
		address = net.JoinHostPort(whole(host), port)
		dialer.Control = func(network, address string, conn syscall.RawConn) error {
			err := c.guard.Safe(network, address, conn)
			private.CompareAndSwap(false, err != nil)
			public.CompareAndSwap(false, err == nil)
			return err //nolint:wrapcheck // nobody sees it
		}
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil && private.Load() && !public.Load() {
		return nil, ErrPrivate
	}
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return idle{conn, c.opts.Idle}, nil
}

// whole is a host's name with a dot, by which this machine's search domains are not appended to it; an address stays
// itself.
func whole(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	return host + "."
}

// Reaches tells whether a host is called at a port, without calling it: false where all its addresses are refused.
// That a name does not resolve is an error.
func (c *Client) Reaches(ctx context.Context, host, port string) (bool, error) {
	if c.allow.has(host) {
		return true, nil
	}
	resolver := c.opts.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	found, err := resolver.LookupNetIP(ctx, "ip", whole(host))
	if err != nil {
		return false, fmt.Errorf("looking a name up: %w", err)
	}
	for _, addr := range found {
		family := "tcp6"
		if addr = addr.Unmap(); addr.Is4() {
			family = "tcp4"
		}
		if c.guard.Safe(family, net.JoinHostPort(addr.String(), port), nil) == nil {
			return true, nil
		}
	}
	return false, nil
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
