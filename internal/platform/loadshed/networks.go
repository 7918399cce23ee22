package loadshed

import (
	"net/netip"
	"strings"
)

// NetworkPrefix returns the IP network of a client: a /24 for IPv4 or a /48 for IPv6. Limits apply to the network, so
// that a client with many addresses counts as one client. client is an IP address or prefix. NetworkPrefix returns any
// other string unchanged.
func NetworkPrefix(client string) string {
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
	network, _ := addr.Prefix(bits) // never fails for these lengths
	return network.String()
}

// SitePrefix returns the /48 of an IPv6 client, because providers assign up to a /48 to one customer. It returns other
// clients unchanged.
func SitePrefix(client string) string {
	if !strings.Contains(client, ":") {
		return client
	}
	return NetworkPrefix(client)
}
