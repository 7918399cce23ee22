package shell

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// proxies lists the IP networks of trusted proxies.
type proxies []netip.Prefix

// parseProxies parses IP networks such as 10.1.0.0/16, and single IP addresses.
func parseProxies(texts []string) (proxies, error) {
	var out proxies
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("a trusted proxy must be a network such as 10.1.0.0/16 or an IP address: %w", err)
		}
		out = append(out, network.Masked())
	}
	return out, nil
}

func (p proxies) contains(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// client returns the IP address of the client: the peer's address or, behind trusted proxies, the last untrusted entry
// of X-Forwarded-For. For IPv6, it returns the /64 network, because a client usually controls the whole network.
func (p proxies) client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	addr = addr.Unmap().WithZone("")
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(forwarded) {
		sender, err := parseForwarded(strings.TrimSpace(text))
		if err != nil || !p.contains(addr) {
			break
		}
		addr = sender.Unmap().WithZone("")
	}
	if addr.Is4() {
		return addr.String()
	}
	network, _ := addr.Prefix(64) // never fails for an IPv6 address without a zone
	return network.String()
}

// untrustedProxy records the last peer that forwarded a request but is not a trusted proxy. All clients behind such a
// proxy count as one client and share one limit for sign-in attempts.
type untrustedProxy struct {
	mu       sync.Mutex
	peer     string
	seenAt   time.Time
	warnedAt time.Time
}

// warnInterval is the minimum interval between warnings about untrusted proxies.
const warnInterval = time.Hour

// record records a peer and reports whether a warning is due.
func (u *untrustedProxy) record(peer string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.peer, u.seenAt = peer, now
	if !u.warnedAt.IsZero() && now.Sub(u.warnedAt) < warnInterval {
		return false
	}
	u.warnedAt = now
	return true
}

// UntrustedProxy returns the address of the last untrusted peer that sent X-Forwarded-For or Forwarded, or "" if there
// was none in the last hour.
func (s *Shell) UntrustedProxy() string {
	s.untrusted.mu.Lock()
	defer s.untrusted.mu.Unlock()
	if s.untrusted.seenAt.IsZero() || s.DB.Now().Sub(s.untrusted.seenAt) >= warnInterval {
		return ""
	}
	return s.untrusted.peer
}

// WarnUntrustedProxy logs a warning, at most once an hour, if an untrusted peer forwarded the request.
func (s *Shell) WarnUntrustedProxy(r *http.Request) {
	if len(r.Header["X-Forwarded-For"]) == 0 && len(r.Header["Forwarded"]) == 0 {
		return
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || s.proxies.contains(addr.Unmap().WithZone("")) || !s.untrusted.record(addr.Unmap().String(),
		s.DB.Now()) {
		return
	}
	s.Log.WarnContext(r.Context(),
		"X-Forwarded-For came from an untrusted peer and was ignored. If the peer is your proxy, all clients "+
			"behind it share one sign-in limit, and an attacker can exhaust it: add the peer's network to "+
			"PRESSROOM_TRUSTED_PROXIES (--trusted-proxies). If clients connect to this node directly, one of them "+
			"sent the header and you can ignore this", "peer",
		addr.Unmap().String())
}

// parseForwarded returns the address in an entry of X-Forwarded-For. Some proxies include the client's port, such as
// 192.0.2.1:4711 or [2001:db8::1]:4711.
func parseForwarded(text string) (netip.Addr, error) {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr(), nil
	}
	return netip.ParseAddr(strings.Trim(text, "[]")) //nolint:wrapcheck // the error is not shown
}
