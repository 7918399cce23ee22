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

// ErrPrivate means that a host has no public address or that the port is not 443, and that the operator does not allow
// the host.
var ErrPrivate = errors.New("the host has no public address")

// wireServer is the address of Azure's metadata service. It is a public address, unlike the metadata services of other
// clouds.
var wireServer = netip.MustParsePrefix("168.63.129.16/32")

// newGuard returns a guard that checks dialed addresses. Except for allowedHosts, it rejects all addresses in IANA's
// special-purpose registries (RFC 6890), and IPv6 addresses outside 2000::/3.
func newGuard(allowedHosts hosts, port uint16) *ssrf.Guardian {
	var v4, v6 []netip.Prefix
	for _, network := range allowedHosts.networks {
		if network.Addr().Is4() {
			v4 = append(v4, network)
		} else {
			v6 = append(v6, network)
		}
	}
	return ssrf.New(ssrf.WithPorts(port), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(wireServer))
}

// dial connects to a host. It checks each IP address just before the socket connects, which prevents DNS rebinding.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("parsing host and port: %w", err)
	}
	var sawPrivate, sawPublic atomic.Bool // atomic, because IPv4 and IPv6 addresses are dialed concurrently
	dialer := net.Dialer{Timeout: connectTimeout, Resolver: c.opts.Resolver}
	if !c.allowedHosts.contains(host) {
		address = net.JoinHostPort(withTrailingDot(host), port)
		dialer.Control = func(network, address string, conn syscall.RawConn) error {
			err := c.guard.Safe(network, address, conn)
			sawPrivate.CompareAndSwap(false, err != nil)
			sawPublic.CompareAndSwap(false, err == nil)
			return err //nolint:wrapcheck // ErrPrivate replaces this error
		}
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil && sawPrivate.Load() && !sawPublic.Load() {
		return nil, ErrPrivate
	}
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return idleConn{conn, c.opts.Idle}, nil
}

// withTrailingDot adds a trailing dot to a host name, so that the resolver does not append search domains. It returns
// IP addresses unchanged.
func withTrailingDot(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	return host + "."
}

// Allows reports whether the client may connect to a host and port. It does not connect. It resolves the host name, and
// returns an error if that fails.
func (c *Client) Allows(ctx context.Context, host, port string) (bool, error) {
	if c.allowedHosts.contains(host) {
		return true, nil
	}
	resolver := c.opts.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", withTrailingDot(host))
	if err != nil {
		return false, fmt.Errorf("resolving the name: %w", err)
	}
	for _, addr := range addrs {
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

// idleConn is a connection with an idle timeout, which applies to the TLS handshake and to the body.
type idleConn struct {
	net.Conn

	timeout time.Duration
}

func (c idleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, fmt.Errorf("setting the deadline: %w", err)
	}
	return c.Conn.Read(p) //nolint:wrapcheck // io.EOF must stay unwrapped
}

func (c idleConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, fmt.Errorf("setting the deadline: %w", err)
	}
	return c.Conn.Write(p) //nolint:wrapcheck // as in Read
}
