package loadshed

import (
	"net/netip"
	"strings"
)

// NetworkPrefix returns the IP network of a client: a /24 for IPv4 or a /48 for IPv6. It is used to limit a client with
// many addresses as one client. The client is an IP address or prefix. Other texts are returned unchanged.
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
	network, _ := addr.Prefix(bits) // every address has a prefix of this length
	return network.String()
}

// SitePrefix returns the /48 of an IPv6 client, because providers assign up to a /48 to one customer. Other clients are
// returned unchanged.
func SitePrefix(client string) string {
	if !strings.Contains(client, ":") {
		return client
	}
	return NetworkPrefix(client)
}
