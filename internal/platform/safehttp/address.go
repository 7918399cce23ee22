package safehttp

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAddress is how many bytes an address may have.
const maxAddress = 2048

// Why addresses are refused.
const (
	malformed = "The address is not written as an https address has to be."
	tooLong   = "The address is too long: it may have 2,048 bytes."
	notHTTPS  = "The address has to begin with https://."
	withUser  = "The address may not contain a user name, a password or anything that could be read as one."
	otherPort = "The address may not name a port other than 443."
	numeric   = "Numeric addresses are refused: the address has to name its host."
	notPublic = "The address does not lead to a public host."
)

// Check tells whether an address is refused by its text alone; nothing is looked up or connected to. What is wrong is
// a *Error.
func (c *Client) Check(address string) error {
	_, err := c.parse(address)
	return err
}

// Address is the one form of a public address: its host in ASCII, no fragment, a path. What could not be fetched by its
// text alone, of nobody's exceptions, is a *Error; nothing is looked up or connected to.
func Address(text string) (string, error) {
	u, err := (&Client{port: securePort}).parse(text)
	if err != nil {
		return "", err
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// parse reads an address into what is asked for: its host in ASCII and without a trailing dot, no fragment.
func (c *Client) parse(address string) (*url.URL, error) {
	authority, err := authority(address)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil || u.Host != authority || u.User != nil {
		return nil, refused(malformed)
	}
	host, err := c.host(u.Hostname(), authority[0] == '[')
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if strings.HasSuffix(authority, ":") || port != "" && !c.mayUse(port, host) {
		return nil, refused(otherPort)
	}
	u.Host = hostPort(host, port)
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// authority is what stands between https:// and the path. It refuses everything that browsers, curl and net/url are
// known to read in different ways.
func authority(address string) (string, error) {
	if err := wellWritten(address); err != nil {
		return "", err
	}
	const scheme = "https://"
	if len(address) < len(scheme) || !strings.EqualFold(address[:len(scheme)], scheme) {
		return "", refused(notHTTPS)
	}
	authority, rest := address[len(scheme):], ""
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority, rest = authority[:end], authority[end:]
	}
	// Where no slash ends the authority, some read on until the @ of a path or a fragment.
	if strings.Contains(authority, "@") || !strings.HasPrefix(rest, "/") && strings.Contains(rest, "@") {
		return "", refused(withUser)
	}
	if authority == "" || strings.Contains(authority, "%") {
		return "", refused(malformed)
	}
	return authority, nil
}

// wellWritten refuses what no address contains: too much, backslashes, spaces of all kinds, and what does not print.
func wellWritten(text string) error {
	if len(text) > maxAddress {
		return refused(tooLong)
	}
	stray := func(r rune) bool { return r == '\\' || r == ' ' || !unicode.IsPrint(r) }
	if !utf8.ValidString(text) || strings.ContainsFunc(text, stray) {
		return refused(malformed)
	}
	return nil
}

// host is a host as it is looked up, where files may be fetched from it.
func (c *Client) host(text string, bracketed bool) (string, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Is6() == bracketed && c.allow.has(addr.String()) {
		return addr.String(), nil
	} else if err == nil || bracketed {
		return "", refused(numeric)
	}
	name, err := hostname(text)
	switch {
	case err != nil:
		return "", refused(malformed)
	case isNumeric(name): // before what is allowed, as IDNA makes addresses of other digits and dots
		return "", refused(numeric)
	case c.allow.has(name):
		return name, nil
	case c.own.has(name) || !isPublic(name):
		return "", refused(notPublic)
	}
	return name, nil
}

// mayUse tells whether a port may be named. A number has one spelling.
func (c *Client) mayUse(port, host string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == port && (n == uint64(c.port) || c.allow.has(host))
}

// hostPort is a host as net/url holds it, with the port where it is not the one of https.
func hostPort(host, port string) string {
	switch {
	case port != "" && port != strconv.Itoa(securePort):
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}
