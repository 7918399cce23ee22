package oauth

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// maxAddress is how long an address may be that a program names, in bytes.
const maxAddress = 2000

// appSchemes are private-use schemes of programs for writing code and the like that have no dot in them, although they
// should (RFC 8252, section 7.1): these programs register them, some among other addresses.
var appSchemes = []string{"claude", "cursor", "jetbrains", "vscode", "vscode-insiders", "windsurf"}

// checkRedirect says what is wrong with an address to which people are to come back with a code: it has to be https, http
// on the person's own machine, or an app's own scheme. Whatever two readers might read differently is refused.
func checkRedirect(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxAddress || strings.ContainsFunc(address, oddInAddress):
		return refused(InvalidRedirect, "A redirect URI is no address that can be read in one way alone, or too long.")
	case strings.Contains(address, "#"):
		return refused(InvalidRedirect, "A redirect URI has no fragment.")
	case u.User != nil:
		return refused(InvalidRedirect, "A redirect URI names no user.")
	case u.Scheme != "https" && u.Scheme != "http":
		return checkScheme(u.Scheme)
	case u.Opaque != "" || u.Hostname() == "" || u.Scheme == "http" && !isLoopback(u.Hostname()):
		return refused(InvalidRedirect, "A redirect URI is https, or http on the person's own machine.")
	}
	return nil
}

// checkScheme says what is wrong with an app's own scheme.
func checkScheme(scheme string) error {
	if slices.Contains(appSchemes, scheme) || strings.Contains(scheme, ".") {
		return nil
	}
	return refused(InvalidRedirect, "A redirect URI's own scheme is a domain name of the program's written backwards, such as com.example.app.")
}

// oddInAddress is true of what no address has: signs that are not ASCII or print nothing, those that browsers read as
// others, and the star of patterns, as there are none.
func oddInAddress(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune("\\\"<>^`{|}*", c)
}

// isLoopback tells whether a host is the person's own machine. Not every program writes it as a number.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback() && (addr == netip.IPv6Loopback() || addr.String() == "127.0.0.1")
}

// matches tells whether the address that a request names is one that the program has registered: the very same text, but
// for the port of an address on the person's own machine, which programs only know once they listen (RFC 8252, section 7.3).
func matches(registered []string, named string) bool {
	if checkRedirect(named) != nil {
		return false
	}
	return slices.ContainsFunc(registered, func(r string) bool { return r == named || sameButPort(r, named) })
}

func sameButPort(registered, named string) bool {
	r, err := url.Parse(registered)
	n, other := url.Parse(named)
	if err != nil || other != nil || r.Scheme != "http" || n.Scheme != "http" || !isLoopback(r.Hostname()) || r.Hostname() != n.Hostname() {
		return false
	}
	return rest(r) == rest(n)
}

// rest is what follows the host of an address, as it was written.
func rest(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.ForceQuery || u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// place is where a redirect address leads, for people: its host; of an app's own scheme the scheme.
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.Scheme == "https" || u.Scheme == "http" {
		return u.Host
	}
	return u.Scheme
}

// withQuery adds to an address, which keeps what it has.
func withQuery(address string, more url.Values) string {
	u, err := url.Parse(address)
	if err != nil { // it was read before
		return address
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += more.Encode()
	return u.String()
}
