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
	scheme     = regexp.MustCompile(`^(?i:https?)://`)
	domainRun  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*`)
	domainForm = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}$`)
	hostForm   = regexp.MustCompile(`^([\pL\pM\pN]([\pL\pM\pN_-]*[\pL\pM\pN])?\.)+[\pL\pM\pN-]*[\pL\pM]$`)
	port       = regexp.MustCompile(`^:[0-9]{1,5}`)
)

// link reads a web address at the beginning of rest: its length in bytes and its URI. The length is 0 where
// there is none. A missed link is a smaller harm than one that nobody wrote, so a bare domain has to look
// very much like one.
func link(rest string) (int, string) {
	if scheme.MatchString(rest) {
		return fullLink(rest)
	}
	return bareLink(rest)
}

func fullLink(rest string) (int, string) {
	address := rest[:addressEnd(rest)]
	parsed, err := url.Parse(address)
	// An address with a name and a password in front of its host is a trick more often than a link.
	if err != nil || parsed.User != nil || !linkableHost(parsed.Hostname()) {
		return 0, ""
	}
	return len(address), address
}

func linkableHost(host string) bool {
	return hostForm.MatchString(host) || host == "localhost" || net.ParseIP(host) != nil
}

func bareLink(rest string) (int, string) {
	run := domainRun.FindString(rest)
	domain := strings.TrimRight(run, ".")
	if len(domain) > maxHandle || !domainForm.MatchString(domain) || continues(first(rest[len(run):])) {
		return 0, ""
	}
	address := domain
	if len(domain) == len(run) {
		address = rest[:bareEnd(rest, len(domain))]
	}
	if !looksReal(domain, len(address) > len(domain)) {
		return 0, ""
	}
	uri := "https://" + address
	if _, err := url.Parse(uri); err != nil {
		return 0, ""
	}
	return len(address), uri
}

// bareEnd is where an address ends whose domain ends at domain: there, or after a port and a path.
func bareEnd(rest string, domain int) int {
	end := domain + len(port.FindString(rest[domain:]))
	if !strings.ContainsRune("/?#", first(rest[end:])) {
		return end
	}
	return max(end, addressEnd(rest))
}

// addressEnd is where the address that rest begins with ends: at the first character that cannot be in one,
// without the punctuation of the sentence around it.
func addressEnd(rest string) int {
	end := strings.IndexFunc(rest, endsAddress)
	if end < 0 {
		end = len(rest)
	}
	for end > 0 {
		last, size := utf8.DecodeLastRuneInString(rest[:end])
		if !strings.ContainsRune(".,;:!?'…’", last) && !closesNothing(rest[:end], last) {
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

// closesNothing tells whether last is a closing bracket that the sentence has opened, not the address.
func closesNothing(address string, last rune) bool {
	switch last {
	case ')':
		return strings.Count(address, ")") > strings.Count(address, "(")
	case ']':
		return strings.Count(address, "]") > strings.Count(address, "[")
	}
	return false
}
