package network

import (
	"net/url"
	"slices"
	"strings"
)

// hosts are where the posts of each network stand on the web, as its own pages and share buttons show it: the usual one
// first. What lies below one of them, such as m.facebook.com, is the network's too.
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

// Host is where the posts of a network usually stand on the web.
func Host(platform string) string {
	if all := hosts[platform]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// Holds tells whether an address may be that of a post of a network: a secure one at one of its hosts, or any at a host
// that the operator names for it, with its port.
func Holds(platform, address string, named []string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || WebAddress(address) == "" {
		return false
	}
	if slices.Contains(named, u.Host) {
		return true
	}
	name := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && u.Port() == "" && slices.ContainsFunc(hosts[platform], func(own string) bool {
		return name == own || strings.HasSuffix(name, "."+own)
	})
}
