package loadshed

import (
	"net/netip"
	"strings"
)

// NetworkOf returns the network of a client's address, a /24 of IPv4 or a /48 of IPv6, for limits per operator of many
// addresses. The client is an address or a prefix. Other texts are returned unchanged.
func NetworkOf(client string) string {
	addr, err := netip.ParseAddr(client)
	if err != nil {
		prefix, err := netip.ParsePrefix(client) // IPv6 clients are identified by their prefix
		if err != nil {
			return client
		}
		addr = prefix.Addr()
	}
	addr = addr.Unmap().WithZone("")
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	network, _ := addr.Prefix(bits) // every address has one
	return network.String()
}

// SiteOf returns the /48 that a client with IPv6 is in: providers give that much to one customer. Other clients are
// returned unchanged.
func SiteOf(client string) string {
	if !strings.Contains(client, ":") {
		return client
	}
	return NetworkOf(client)
}
