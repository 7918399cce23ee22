package safehttp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// hosts is a set of hosts that an operator wrote down.
type hosts struct {
	names    []string // in ASCII; with a leading dot: every name below
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
		name, below := strings.CutPrefix(entry, ".")
		name, err = hostname(name)
		if err != nil || isNumeric(name) {
			return hosts{}, fmt.Errorf("%q is neither a host name, nor an address, nor a network such as 10.1.0.0/16",
				entry)
		}
		if below {
			name = "." + name
		}
		h.names = append(h.names, name)
	}
	return h, nil
}

// readNetwork reads a network or a single address, if the entry is one of them.
func readNetwork(entry string) (netip.Prefix, bool, error) {
	network, err := netip.ParsePrefix(entry)
	if addr, single := netip.ParseAddr(entry); single == nil {
		if addr.Zone() != "" {
			return netip.Prefix{}, false, errors.New("an address with a zone belongs to one machine alone")
		}
		network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	switch {
	case err != nil:
		return netip.Prefix{}, false, nil //nolint:nilerr // it is to be read as a name
	case network != network.Masked():
		return netip.Prefix{}, false, fmt.Errorf("the network of that address is written %s", network.Masked())
	case network.Addr().Is4In6():
		return netip.Prefix{}, false, errors.New("an IPv4 address is to be written as one")
	}
	return network, true, nil
}

// has tells whether a host is among them: a name in ASCII, or an address in its one canonical spelling.
func (h hosts) has(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return slices.ContainsFunc(h.networks, func(n netip.Prefix) bool { return n.Contains(addr) })
	}
	return slices.ContainsFunc(h.names, func(name string) bool {
		return host == name || name[0] == '.' && strings.HasSuffix(host, name)
	})
}

// hostname is a name as it is looked up: mapped and checked by IDNA (UTS #46), in ASCII, without a trailing dot.
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

// topLevel is a name's last label.
func topLevel(name string) string {
	return name[strings.LastIndexByte(name, '.')+1:]
}

// isNumeric tells whether somebody would read a name as an IPv4 address: the WHATWG's "ends in a number", and more,
// as no top level domain begins with a digit (RFC 3696, 2).
func isNumeric(name string) bool {
	last := topLevel(name)
	return '0' <= last[0] && last[0] <= '9'
}

// reserved are the top level domains that lead nowhere, or to somewhere private: IANA's special-use names, those that
// ICANN promised never to delegate, and those of RFC 6762, appendix G.
var reserved = []string{
	"alt", "arpa", "corp", "example", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain",
	"localhost", "mail", "onion", "private", "test",
}

// isPublic tells whether a name can be one of the public DNS, as far as its text tells.
func isPublic(name string) bool {
	return strings.Contains(name, ".") && !slices.Contains(reserved, topLevel(name))
}
