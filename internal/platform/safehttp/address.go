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

// maxAddress is the maximum length of an address in bytes.
const maxAddress = 2048

// The Details of errors about rejected addresses.
const (
	errTextMalformed   = "The address is not a valid https address."
	errTextTooLong     = "The address is longer than 2,048 bytes."
	errTextNotHTTPS    = "The address must begin with https://."
	errTextWithUser    = "The address must not contain a user name or password."
	errTextOtherPort   = "The address must not have a port other than 443."
	errTextNumericHost = "The address must have a host name, not an IP address."
	errTextNotPublic   = "The address does not lead to a public host."
)

// Check returns an *Error if the text of an address violates the rules. It does not send requests.
func (c *Client) Check(address string) error {
	_, err := c.parse(address)
	return err
}

// Address returns the canonical form of a public address: with an ASCII host and a path, and without a fragment. It
// returns an *Error if the text violates the rules. It does not apply the operator's exceptions, and does not send
// requests.
func Address(text string) (string, error) {
	u, err := (&Client{port: httpsPort}).parse(text)
	if err != nil {
		return "", err
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// parse returns the URL to request: with an ASCII host that has no trailing dot, and without a fragment.
func (c *Client) parse(address string) (*url.URL, error) {
	authority, err := authority(address)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil || u.Host != authority || u.User != nil {
		return nil, rejectedError(errTextMalformed)
	}
	host, err := c.host(u.Hostname(), authority[0] == '[')
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if strings.HasSuffix(authority, ":") || port != "" && !c.allowsPort(port, host) {
		return nil, rejectedError(errTextOtherPort)
	}
	u.Host = hostPort(host, port)
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// authority returns the part between https:// and the path. It rejects addresses that browsers, curl and net/url parse
// differently.
func authority(address string) (string, error) {
	if err := checkText(address); err != nil {
		return "", err
	}
	const scheme = "https://"
	if len(address) < len(scheme) || !strings.EqualFold(address[:len(scheme)], scheme) {
		return "", rejectedError(errTextNotHTTPS)
	}
	authority, rest := address[len(scheme):], ""
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority, rest = authority[:end], authority[end:]
	}
	// If no slash follows the authority, some parsers treat everything up to an @ in the query or fragment as a user.
	if strings.Contains(authority, "@") || !strings.HasPrefix(rest, "/") && strings.Contains(rest, "@") {
		return "", rejectedError(errTextWithUser)
	}
	if authority == "" || strings.Contains(authority, "%") {
		return "", rejectedError(errTextMalformed)
	}
	return authority, nil
}

// checkText rejects addresses that are too long or contain backslashes, white space or nonprintable characters.
func checkText(text string) error {
	if len(text) > maxAddress {
		return rejectedError(errTextTooLong)
	}
	stray := func(r rune) bool { return r == '\\' || r == ' ' || !unicode.IsPrint(r) }
	if !utf8.ValidString(text) || strings.ContainsFunc(text, stray) {
		return rejectedError(errTextMalformed)
	}
	return nil
}

// host returns a host in the form that is used for the DNS lookup, or an error.
func (c *Client) host(text string, bracketed bool) (string, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Is6() == bracketed && c.allowedHosts.contains(addr.String()) {
		return addr.String(), nil
	} else if err == nil || bracketed {
		return "", rejectedError(errTextNumericHost)
	}
	name, err := hostname(text)
	switch {
	case err != nil:
		return "", rejectedError(errTextMalformed)
	case isNumeric(name): // checked before Allow, because IDNA maps other digits and dots to ASCII
		return "", rejectedError(errTextNumericHost)
	case c.allowedHosts.contains(name):
		return name, nil
	case c.ownHosts.contains(name) || !isPublic(name):
		return "", rejectedError(errTextNotPublic)
	}
	return name, nil
}

// allowsPort reports whether an address with this host may have the port. The port must be in canonical form.
func (c *Client) allowsPort(port, host string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == port && (n == uint64(c.port) || c.allowedHosts.contains(host))
}

// hostPort returns the value for url.URL.Host: the host, and the port unless it is 443.
func hostPort(host, port string) string {
	switch {
	case port != "" && port != strconv.Itoa(httpsPort):
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}
