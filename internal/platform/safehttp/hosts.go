package safehttp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// hosts is a configured set of hosts.
type hosts struct {
	names    []string // in ASCII; a name with a leading dot stands for all subdomains
	networks []netip.Prefix
}

func newHosts(entries []string) (hosts, error) {
	var h hosts
	for _, entry := range entries {
		network, isNetwork, err := readNetwork(entry)
		if err != nil {
			return hosts{}, fmt.Errorf("%q: %w", entry, err)
		}
		if isNetwork {
			h.networks = append(h.networks, network)
			continue
		}
		name, isSuffix := strings.CutPrefix(entry, ".")
		name, err = hostname(name)
		if err != nil || isNumeric(name) {
			return hosts{}, fmt.Errorf("%q is not a host name, an IP address or a network such as 10.1.0.0/16", entry)
		}
		if isSuffix {
			name = "." + name
		}
		h.names = append(h.names, name)
	}
	return h, nil
}

// readNetwork parses an entry as an IP network or IP address. It returns false for any other entry.
func readNetwork(entry string) (netip.Prefix, bool, error) {
	network, err := netip.ParsePrefix(entry)
	if addr, single := netip.ParseAddr(entry); single == nil {
		if addr.Zone() != "" {
			return netip.Prefix{}, false, errors.New("an address must not have a zone")
		}
		network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	switch {
	case err != nil:
		return netip.Prefix{}, false, nil //nolint:nilerr // it may be a name
	case network != network.Masked():
		return netip.Prefix{}, false, fmt.Errorf("write the network as %s", network.Masked())
	case network.Addr().Is4In6():
		return netip.Prefix{}, false, errors.New("write IPv4 addresses in IPv4 format")
	}
	return network, true, nil
}

// contains reports whether the set contains a host. The host is a name in ASCII or an IP address in canonical form.
func (h hosts) contains(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return slices.ContainsFunc(h.networks, func(n netip.Prefix) bool { return n.Contains(addr) })
	}
	return slices.ContainsFunc(h.names, func(name string) bool {
		return host == name || name[0] == '.' && strings.HasSuffix(host, name)
	})
}

// hostname returns a host name in the form that is used for the DNS lookup: mapped and checked by IDNA (UTS #46), in
// ASCII, and without a trailing dot.
func hostname(text string) (string, error) {
	name, err := idna.Lookup.ToASCII(text)
	if err != nil {
		return "", fmt.Errorf("mapping the name: %w", err)
	}
	name = strings.TrimSuffix(name, ".")
	if len(name) > 253 {
		return "", errors.New("the name is too long")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "", errors.New("a label is empty or too long")
		}
	}
	return name, nil
}

// topLevel returns a name's last label.
func topLevel(name string) string {
	return name[strings.LastIndexByte(name, '.')+1:]
}

// isNumeric reports whether a parser might read a name as an IPv4 address. It returns true for more names than the
// WHATWG's "ends in a number" check. This rejects no valid names, because no top-level domain begins with a digit (RFC
// 3696, section 2).
func isNumeric(name string) bool {
	last := topLevel(name)
	return '0' <= last[0] && last[0] <= '9'
}

// reservedTLDs lists the top-level domains that are not public: IANA's special-use names, the names that ICANN will
// never delegate, and the names in RFC 6762, appendix G.
var reservedTLDs = []string{
	"alt", "arpa", "corp", "example", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain",
	"localhost", "mail", "onion", "private", "test",
}

// isPublic reports whether a name can exist in the public DNS. It does not look the name up.
func isPublic(name string) bool {
	return strings.Contains(name, ".") && !slices.Contains(reservedTLDs, topLevel(name))
}
