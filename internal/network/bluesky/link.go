package bluesky

import (
	"net"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	schemePattern    = regexp.MustCompile(`^(?i:https?)://`)
	domainRunPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*`)
	domainSyntax     = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}$`)
	hostSyntax       = regexp.MustCompile(`^([\pL\pM\pN]([\pL\pM\pN_-]*[\pL\pM\pN])?\.)+[\pL\pM\pN-]*[\pL\pM]$`)
	portPattern      = regexp.MustCompile(`^:[0-9]{1,5}`)
)

// parseLink returns the length in bytes and the URI of the web address at the beginning of rest. The length is 0 if
// rest does not begin with an address. A missed link does less harm than an unintended link, so a domain without a
// scheme only counts if it is very likely a link.
func parseLink(rest string) (int, string) {
	if schemePattern.MatchString(rest) {
		return parseFullLink(rest)
	}
	return parseBareLink(rest)
}

func parseFullLink(rest string) (int, string) {
	address := rest[:addressEnd(rest)]
	parsed, err := url.Parse(address)
	// A URL with a user name is more often phishing than a link.
	if err != nil || parsed.User != nil || !isLinkHost(parsed.Hostname()) {
		return 0, ""
	}
	return len(address), address
}

func isLinkHost(host string) bool {
	return hostSyntax.MatchString(host) || host == "localhost" || net.ParseIP(host) != nil
}

func parseBareLink(rest string) (int, string) {
	run := domainRunPattern.FindString(rest)
	domain := strings.TrimRight(run, ".")
	if len(domain) > maxHandle || !domainSyntax.MatchString(domain) || continuesWord(firstRune(rest[len(run):])) {
		return 0, ""
	}
	address := domain
	if len(domain) == len(run) {
		address = rest[:bareLinkEnd(rest, len(domain))]
	}
	if !isLikelyDomain(domain, len(address) > len(domain)) {
		return 0, ""
	}
	uri := "https://" + address
	if _, err := url.Parse(uri); err != nil {
		return 0, ""
	}
	return len(address), uri
}

// bareLinkEnd returns the end of an address without a scheme, including a port and a path.
func bareLinkEnd(rest string, domain int) int {
	end := domain + len(portPattern.FindString(rest[domain:]))
	if !strings.ContainsRune("/?#", firstRune(rest[end:])) {
		return end
	}
	return max(end, addressEnd(rest))
}

// addressEnd returns the length of the address at the beginning of rest. The address ends before the first character
// that addresses cannot contain, and excludes punctuation of the surrounding sentence.
func addressEnd(rest string) int {
	end := strings.IndexFunc(rest, endsAddress)
	if end < 0 {
		end = len(rest)
	}
	for end > 0 {
		last, size := utf8.DecodeLastRuneInString(rest[:end])
		if !strings.ContainsRune(".,;:!?'…’", last) && !isUnopenedBracket(rest[:end], last) {
			break
		}
		end -= size
	}
	return end
}

func endsAddress(r rune) bool {
	const marks = "<>\"`|\\^{}“”„«»「」『』（）【】、。，！？；："
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError ||
		strings.ContainsRune(marks, r)
}

// isUnopenedBracket reports whether last is a closing bracket without an opening bracket in address.
func isUnopenedBracket(address string, last rune) bool {
	switch last {
	case ')':
		return strings.Count(address, ")") > strings.Count(address, "(")
	case ']':
		return strings.Count(address, "]") > strings.Count(address, "[")
	}
	return false
}
