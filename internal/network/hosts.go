package network

import (
	"net/url"
	"slices"
	"strings"
)

// hosts lists the web hosts of each network's posts, with the primary host first. The hosts are taken from the
// networks' pages and share buttons. Subdomains, such as m.facebook.com, are accepted too.
var hosts = map[string][]string{
	"bluesky":   {"bsky.app"},
	"facebook":  {"facebook.com", "fb.com", "fb.watch"},
	"instagram": {"instagram.com"},
	"linkedin":  {"linkedin.com"},
	"pinterest": {
		"pinterest.com", "pin.it", "pinterest.at", "pinterest.ca", "pinterest.ch", "pinterest.cl", "pinterest.co.kr",
		"pinterest.co.uk", "pinterest.com.au", "pinterest.com.mx",
		"pinterest.de", "pinterest.dk", "pinterest.es", "pinterest.fr", "pinterest.ie", "pinterest.it", "pinterest.jp",
		"pinterest.nz", "pinterest.ph", "pinterest.pt", "pinterest.se",
	},
	"threads": {"threads.com", "threads.net"},
	"tiktok":  {"tiktok.com"},
	"x":       {"x.com", "twitter.com"},
	"youtube": {"youtube.com", "youtu.be"},
}

// Host returns the primary web host of a network's posts.
func Host(platform string) string {
	if names := hosts[platform]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// IsPostURL reports whether a URL may be the address of a post on a network. The URL must either use HTTPS and one of
// the network's hosts, or have one of extraHosts, which the operator configures. The extraHosts include the port.
func IsPostURL(platform, rawURL string, extraHosts []string) bool {
	u, err := url.Parse(rawURL)
	if err != nil || u.User != nil || !isWebURL(u) {
		return false
	}
	if slices.Contains(extraHosts, u.Host) {
		return true
	}
	name := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && u.Port() == "" && slices.ContainsFunc(hosts[platform], func(host string) bool {
		return name == host || strings.HasSuffix(name, "."+host)
	})
}
