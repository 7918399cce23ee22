package frame

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
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
// for which it says that it asks, and so on from proxy to proxy. Of IPv6 it is the network, as one client has all of it.
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
		before, err := netip.ParseAddr(strings.TrimSpace(text))
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
