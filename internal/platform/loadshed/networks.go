package loadshed

import "net/netip"

// NetworkOf returns the network that a client's address is in, for bounds that one operator of many addresses must not
// fill: a /24 of IPv4, a /48 of IPv6. The client is an address or a prefix; other texts are returned as they are.
func NetworkOf(client string) string {
	addr, err := netip.ParseAddr(client)
	if err != nil {
		prefix, err := netip.ParsePrefix(client) // how clients with IPv6 are told apart
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
