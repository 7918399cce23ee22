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

// proxies are the networks of proxies whose word on who asks is believed.
type proxies []netip.Prefix

// readProxies reads networks such as 10.1.0.0/16, and single addresses.
func readProxies(texts []string) (proxies, error) {
	var out proxies
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if addr, single := netip.ParseAddr(text); single == nil {
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("a trusted proxy is no network such as 10.1.0.0/16 and no address: %w", err)
		}
		out = append(out, network.Masked())
	}
	return out, nil
}

func (p proxies) have(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// client tells clients apart by their addresses: the sender's, or where that is a proxy that is believed, the one
// for which it says that it asks, and so on from proxy to proxy. Of IPv6 it is the network, as one client has all of
// it.
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
	told := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(told) {
		before, err := forwarded(strings.TrimSpace(text))
		if err != nil || !p.have(addr) {
			break
		}
		addr = before.Unmap().WithZone("")
	}
	if addr.Is4() {
		return addr.String()
	}
	network, _ := addr.Prefix(64) // every IPv6 address has one
	return network.String()
}

// untrusted remembers the last peer that forwarded a request although it is no trusted proxy. Clients that come through
// such a proxy are taken for one: what limits guessing then limits all of them together.
type untrusted struct {
	mu     sync.Mutex
	peer   string
	seen   time.Time
	warned time.Time
}

// warnEvery is how often the log tells of forwarded requests from peers that are not trusted.
const warnEvery = time.Hour

// note remembers a peer and reports whether the log is due to tell of it.
func (u *untrusted) note(peer string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.peer, u.seen = peer, now
	if !u.warned.IsZero() && now.Sub(u.warned) < warnEvery {
		return false
	}
	u.warned = now
	return true
}

// UntrustedProxy returns the address of the last peer that sent X-Forwarded-For or Forwarded without being a trusted
// proxy, within the last hour; empty if there was none.
func (f *Frame) UntrustedProxy() string {
	f.untrusted.mu.Lock()
	defer f.untrusted.mu.Unlock()
	if f.untrusted.seen.IsZero() || f.DB.Now().Sub(f.untrusted.seen) >= warnEvery {
		return ""
	}
	return f.untrusted.peer
}

// NoteForwarded warns the operator of requests that were forwarded by a peer which is not a trusted proxy.
func (f *Frame) NoteForwarded(r *http.Request) {
	if len(r.Header["X-Forwarded-For"]) == 0 && len(r.Header["Forwarded"]) == 0 {
		return
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || f.proxies.have(addr.Unmap().WithZone("")) || !f.untrusted.note(addr.Unmap().String(), f.DB.Now()) {
		return
	}
	f.Log.WarnContext(r.Context(),
		"X-Forwarded-For came from a peer that is not a trusted proxy and is ignored. If the peer is your proxy, "+
			"everybody behind it "+
			"shares one sign-in limit, and a stranger can use it up: add the peer's network to "+
			"PRESSROOM_TRUSTED_PROXIES (--trusted-proxies). "+
			"If clients reach this node directly, one of them sent the header, and nothing needs to be done", "peer",
		addr.Unmap().String())
}

// forwarded reads an entry of X-Forwarded-For. Some proxies write the client's port too: 192.0.2.1:4711,
// [2001:db8::1]:4711.
func forwarded(text string) (netip.Addr, error) {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr(), nil
	}
	return netip.ParseAddr(strings.Trim(text, "[]")) //nolint:wrapcheck // nobody is shown it
}
