package provider

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// maxText is the longest text that can name a profile, in bytes: links carry long queries.
const maxText = 2048

// Username reads what people give to name a profile: its name, @name, or a link to the profile or to a page below
// it. The result is in lower case and stands for itself. An error is a sentence about what is wrong that repeats
// nothing of the text.
func Username(platform, text string) (string, error) {
	naming, known := namings[platform]
	if !known {
		return "", errors.New("the platform is not one with public profiles")
	}
	if len(text) > maxText {
		return "", errors.New("the text is too long to name a profile")
	}
	text = strings.TrimSpace(text)
	path, _, _ := strings.Cut(text, "#")
	path, _, _ = strings.Cut(path, "?")
	// Only ASCII is brought to lower case: beyond it that makes letters of what merely looks like them.
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("there are characters that are in no name and no link")
	}
	path = strings.ToLower(path)
	if strings.ContainsAny(text, "/?#") {
		return naming.linked(path)
	}
	return naming.own(strings.TrimPrefix(path, "@"))
}

// Link is a profile's address on the web, for people; empty of an unknown platform. The name is one of Username's.
func Link(platform, username string) string {
	naming, known := namings[platform]
	if !known {
		return ""
	}
	return naming.link + username
}

// naming is how a network names its profiles.
type naming struct {
	form        *regexp.Regexp
	least, most int      // characters of a name
	hosts       []string // of links to profiles
	link        string   // what stands before a name in a link
	at          bool     // in a link the name begins with @
	before      []string // first parts of a path that a name may follow
	reserved    []string // what the network uses for pages of its own where names stand
}

var namings = map[string]naming{
	Instagram: {
		form: regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9_]+)*$`), least: 1, most: 30,
		hosts:  []string{"instagram.com", "www.instagram.com", "m.instagram.com", "instagr.am", "www.instagr.am"},
		link:   "https://www.instagram.com/",
		before: []string{"stories", "_u"},
		reserved: []string{
			"_n", "_u", "a", "about", "accounts", "ajax", "api", "ar", "archive", "challenge", "create", "developer", "direct",
			"directory", "download", "emails", "explore", "graphql", "highlights", "legal", "nametag", "oauth", "p", "press",
			"privacy", "query", "reel", "reels", "s", "session", "share", "static", "stories", "terms", "topics", "tv", "web",
			"your_activity",
		},
	},
	TikTok: {
		form: regexp.MustCompile(`^[a-z0-9_.]*[a-z0-9_]$`), least: 2, most: 24,
		hosts: []string{"tiktok.com", "www.tiktok.com", "m.tiktok.com"},
		link:  "https://www.tiktok.com/@",
		at:    true,
	},
}

// hosts have the form of a name, but whoever gives one has lost the rest of a link.
var hosts = slices.Concat(namings[Instagram].hosts, namings[TikTok].hosts, []string{"vm.tiktok.com", "vt.tiktok.com"})

// linked reads a link without its query. What follows the name does not matter: it is a page below the profile.
func (n naming) linked(link string) (string, error) {
	rest, secure := strings.CutPrefix(link, "https://")
	if !secure {
		rest = strings.TrimPrefix(link, "http://")
	}
	host, path, _ := strings.Cut(rest, "/")
	if !slices.Contains(n.hosts, host) {
		return "", errors.New("the link is not one to a profile of this network")
	}
	part, further, _ := strings.Cut(path, "/")
	if slices.Contains(n.before, part) {
		part, _, _ = strings.Cut(further, "/")
	}
	part = strings.Replace(part, "%40", "@", 1)
	name := strings.TrimPrefix(part, "@")
	if n.at && name == part {
		return "", errors.New("the link does not say whose profile it leads to")
	}
	return n.own(name)
}

// own applies the network's rule for names.
func (n naming) own(name string) (string, error) {
	if len(name) < n.least || len(name) > n.most || !n.form.MatchString(name) {
		return "", errors.New("it is not a name as this network gives them, nor a link to a profile")
	}
	if slices.Contains(n.reserved, name) || slices.Contains(hosts, name) {
		return "", errors.New("it is an address of the network's own, not a profile")
	}
	return name, nil
}
