package provider

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// maxText is the maximum length, in bytes, of a text that names a profile or hashtag.
const maxText = 2048

// ParseUsername parses a profile name: name, @name, or a link to the profile or to a page below it. It returns the name
// in lower case. Parsing that name returns the same name. Errors do not quote the text.
func ParseUsername(platform, text string) (string, error) {
	rules, known := usernameRulesByPlatform[platform]
	if !known {
		return "", errors.New("the platform has no public profiles")
	}
	if len(text) > maxText {
		return "", errors.New("the text is too long for a profile name or link")
	}
	text = strings.TrimSpace(text)
	path, _, _ := strings.Cut(text, "#")
	path, _, _ = strings.Cut(path, "?")
	// Only ASCII is accepted, because lowercasing could turn lookalike characters into ASCII letters.
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("the text has characters that are invalid in names and links")
	}
	path = strings.ToLower(path)
	if strings.ContainsAny(text, "/?#") {
		return rules.parseLink(path)
	}
	return rules.validate(strings.TrimPrefix(path, "@"))
}

// ProfileURL returns the URL of a profile's page, or "" for an unknown platform.
func ProfileURL(platform, username string) string {
	rules, known := usernameRulesByPlatform[platform]
	if !known {
		return ""
	}
	return rules.urlPrefix + username
}

// usernameRules are a network's rules for profile names.
type usernameRules struct {
	pattern              *regexp.Regexp
	minLength, maxLength int      // in characters
	hosts                []string // of profile links
	urlPrefix            string   // before the name in a link
	requiresAtSign       bool     // names in links start with @
	pathPrefixes         []string // path segments that may precede the name in a link
	reserved             []string // names of the network's own pages
}

var usernameRulesByPlatform = map[string]usernameRules{
	Instagram: {
		pattern: regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9_]+)*$`), minLength: 1, maxLength: 30,
		hosts:        []string{"instagram.com", "www.instagram.com", "m.instagram.com", "instagr.am", "www.instagr.am"},
		urlPrefix:    "https://www.instagram.com/",
		pathPrefixes: []string{"stories", "_u"},
		reserved: []string{
			"_n", "_u", "a", "about", "accounts", "ajax", "api", "ar", "archive", "challenge", "create", "developer",
			"direct",
			"directory", "download", "emails", "explore", "graphql", "highlights", "legal", "nametag", "oauth", "p",
			"press",
			"privacy", "query", "reel", "reels", "s", "session", "share", "static", "stories", "terms", "topics", "tv",
			"web",
			"your_activity",
		},
	},
	TikTok: {
		pattern: regexp.MustCompile(`^[a-z0-9_.]*[a-z0-9_]$`), minLength: 2, maxLength: 24,
		hosts:          []string{"tiktok.com", "www.tiktok.com", "m.tiktok.com"},
		urlPrefix:      "https://www.tiktok.com/@",
		requiresAtSign: true,
	},
}

// hostNames are not accepted as profile names, because they are truncated links.
var hostNames = slices.Concat(usernameRulesByPlatform[Instagram].hosts, usernameRulesByPlatform[TikTok].hosts, []string{"vm.tiktok.com",
	"vt.tiktok.com"})

// parseLink parses a link without a query. It ignores the path after the name.
func (r usernameRules) parseLink(link string) (string, error) {
	rest, isHTTPS := strings.CutPrefix(link, "https://")
	if !isHTTPS {
		rest = strings.TrimPrefix(link, "http://")
	}
	host, path, _ := strings.Cut(rest, "/")
	if !slices.Contains(r.hosts, host) {
		return "", errors.New("the link does not lead to a profile of this network")
	}
	part, remainder, _ := strings.Cut(path, "/")
	if slices.Contains(r.pathPrefixes, part) {
		part, _, _ = strings.Cut(remainder, "/")
	}
	part = strings.Replace(part, "%40", "@", 1)
	name := strings.TrimPrefix(part, "@")
	if r.requiresAtSign && name == part {
		return "", errors.New("the link has no profile name")
	}
	return r.validate(name)
}

// validate returns the name, or an error if the network's rules do not allow it.
func (r usernameRules) validate(name string) (string, error) {
	if len(name) < r.minLength || len(name) > r.maxLength || !r.pattern.MatchString(name) {
		return "", errors.New("invalid profile name or link")
	}
	if slices.Contains(r.reserved, name) || slices.Contains(hostNames, name) {
		return "", errors.New("this is a page of the network, not a profile")
	}
	return name, nil
}
