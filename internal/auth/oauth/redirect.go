package oauth

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// maxURLLength is the maximum length in bytes of a URL from a client.
const maxURLLength = 2000

// appSchemes lists the private-use URI schemes in the redirect URIs of code editors and similar apps. The schemes do
// not contain a dot, although RFC 8252, section 7.1, requires one.
var appSchemes = []string{"claude", "cursor", "jetbrains", "vscode", "vscode-insiders", "windsurf"}

// checkRedirect returns an error if a redirect URI is not allowed. It must use https, http with a loopback address, or
// a custom scheme. checkRedirect also rejects ambiguous URIs.
func checkRedirect(redirectURI string) error {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil || len(redirectURI) > maxURLLength || strings.ContainsFunc(redirectURI, isAmbiguous):
		return newError(InvalidRedirect, "A redirect URI is malformed, ambiguous or too long.")
	case strings.Contains(redirectURI, "#"):
		return newError(InvalidRedirect, "A redirect URI must not have a fragment.")
	case u.User != nil:
		return newError(InvalidRedirect, "A redirect URI must not contain credentials.")
	case u.Scheme != "https" && u.Scheme != "http":
		return checkScheme(u.Scheme)
	case u.Opaque != "" || u.Hostname() == "" || u.Scheme == "http" && !isLoopback(u.Hostname()):
		return newError(InvalidRedirect, "A redirect URI must use https, or http on a loopback address.")
	}
	return nil
}

// checkScheme returns an error if a custom scheme is not allowed.
func checkScheme(scheme string) error {
	if slices.Contains(appSchemes, scheme) || strings.Contains(scheme, ".") {
		return nil
	}
	return newError(InvalidRedirect, "A custom scheme must be a reversed domain name, such as com.example.app.")
}

// isAmbiguous reports whether URIs that contain the character are rejected. This applies to characters that are not
// printable ASCII or that browsers interpret differently. It also applies to the asterisk, because patterns are not
// supported.
func isAmbiguous(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune("\\\"<>^`{|}*", c)
}

// isLoopback reports whether a host is a loopback address or localhost.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" ||
		err == nil && addr.IsLoopback() && (addr == netip.IPv6Loopback() || addr.String() == "127.0.0.1")
}

// isRegistered reports whether a redirect URI is registered. It must be identical to a registered URI, except that a
// loopback address may have any port (RFC 8252, section 7.3).
func isRegistered(registered []string, redirectURL string) bool {
	if checkRedirect(redirectURL) != nil {
		return false
	}
	return slices.ContainsFunc(registered, func(r string) bool { return r == redirectURL || equalExceptPort(r, redirectURL) })
}

func equalExceptPort(registered, redirectURL string) bool {
	r, err := url.Parse(registered)
	requested, parseErr := url.Parse(redirectURL)
	if err != nil || parseErr != nil || r.Scheme != "http" || requested.Scheme != "http" || !isLoopback(r.Hostname()) ||
		r.Hostname() != requested.Hostname() {
		return false
	}
	return pathAndQuery(r) == pathAndQuery(requested)
}

// pathAndQuery returns the part of a URL that follows the host, unchanged.
func pathAndQuery(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.ForceQuery || u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// displayHost returns the host of a redirect URI. For a custom scheme, it returns the scheme.
func displayHost(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err != nil {
		return ""
	}
	if u.Scheme == "https" || u.Scheme == "http" {
		return u.Host
	}
	return u.Scheme
}

// withQuery adds parameters to the query of a URL.
func withQuery(rawURL string, params url.Values) string {
	u, err := url.Parse(rawURL)
	if err != nil { // unreachable: it was parsed before
		return rawURL
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += params.Encode()
	return u.String()
}
