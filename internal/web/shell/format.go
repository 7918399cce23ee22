package shell

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/teamtime"
)

// words are what templates say things with.
var words = template.FuncMap{
	"asset": assetPath, "bytes": Bytes, "type": typeName, "network": NetworkName, "way": WayName,
	"when": When, "count": Count, "plural": Plural, "state": State, "bundle": bundle, "lines": lines,
	"percent": Percent,
	"places":  func() []place { return places },
}

// place is a part of the app that the navigation leads to.
type place struct{ Path, Name string }

// places are what there is yet, in the order in which the navigation shows it.
var places = []place{
	{"posts", "Posts"}, {"calendar", "Calendar"}, {"reports", "Reports"}, {"accounts", "Accounts"},
	{"media", "Media"}, {"hashtags", "Hashtags"}, {"voices", "Voices"}, {"settings", "Settings"},
}

// networkNames are what people call the networks.
var networkNames = map[string]string{
	"instagram": "Instagram", "facebook": "Facebook", "tiktok": "TikTok", "tiktok_business": "TikTok for Business",
	"youtube":  "YouTube",
	"linkedin": "LinkedIn", "x": "X", "threads": "Threads", "pinterest": "Pinterest", "bluesky": "Bluesky",
}

// NetworkName is what people call a network; the platform itself where a name is not known.
func NetworkName(platform string) string {
	if name, ok := networkNames[platform]; ok {
		return name
	}
	return platform
}

// wayNames are what people call a network's ways of signing in, where it has several.
var wayNames = map[string]string{
	"instagram/instagram": "Instagram", "instagram/facebook": "Facebook", "tiktok/": "TikTok",
	"tiktok/business": "TikTok for Business",
}

// WayName is what people call a way of signing in at a network: the network's name where it has none of its own.
func WayName(platform, kind string) string {
	if name, ok := wayNames[strings.TrimSuffix(platform, "_business")+"/"+kind]; ok {
		return name
	}
	return NetworkName(platform)
}

// Bytes is a number of bytes as people read it.
func Bytes(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// typeNames are what people call the MIME types of media.
var typeNames = map[string]string{
	"image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WebP", "image/gif": "GIF", "video/mp4": "MP4",
	"video/quicktime": "QuickTime",
}

// typeName is the type itself where it has no name.
func typeName(kind string) string {
	if name, ok := typeNames[kind]; ok {
		return name
	}
	return kind
}

// When shows an instant as the team reads it, with the exact time for machines: "Sat 21 Nov 2026, 12:00". Nothing of
// one that is not there.
func When(m *teamtime.Moment) template.HTML {
	if m == nil {
		return ""
	}
	at, err := time.Parse(time.RFC3339Nano, m.Team)
	if err != nil {
		return ""
	}
	return Time(at)
}

// Time shows an instant in the zone that it is given in.
func Time(at time.Time) template.HTML {
	return template.HTML(`<time datetime="` + at.Format(time.RFC3339) + `">` + at.Format("Mon 2 Jan 2006, 15:04") +
		`</time>`) //nolint:gosec // digits and English names alone
}

// Count writes a whole number with its thousands apart: 1,234,567. A figure that is not there is a dash.
func Count(value any) string {
	var n int64
	switch v := value.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case *int64:
		if v == nil {
			return "–"
		}
		n = *v
	case float64:
		n = int64(v + 0.5)
	case *float64:
		if v == nil {
			return "–"
		}
		n = int64(*v + 0.5)
	default:
		return fmt.Sprint(value)
	}
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Percent writes a share of 1 as percent with one digit: 12.3 %.
func Percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + " %" }

// Plural is a number with its noun: 1 post, 2 posts.
func Plural(n any, one, many string) string {
	if text := Count(n); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}

// states are what people call the states of things, with how a tag of it looks.
var states = map[string][2]string{
	"draft": {"Draft", "plain"}, "scheduled": {"Scheduled", ""}, "processing": {"Publishing", ""},
	"published":           {"Published", "good"},
	"partially_published": {"Partly published", "bad"}, "failed": {"Failed", "bad"}, "pending": {"Waiting", "plain"},
	"sending":     {"Sending", ""},
	"unconfirmed": {"Not confirmed", "bad"}, "running": {"Running", ""}, "succeeded": {"Done", "good"},
	"partially_succeeded": {"Partly done", "bad"},
	"ready":               {"Ready", "good"}, "error": {"Failed", "bad"}, "connected": {"Connected", "good"},
	"expiring": {"Expires soon", "bad"}, "lost": {"Connection lost", "bad"},
	"waiting": {"Waits for the client", ""}, "approved": {"Approved", "good"}, "rejected": {"Rejected", "bad"},
}

// State is a tag that tells how something stands.
func State(name any) template.HTML {
	s, ok := states[fmt.Sprint(name)]
	if !ok {
		s = [2]string{strings.ReplaceAll(fmt.Sprint(name), "_", " "), "plain"}
	}
	return template.HTML(`<span class="tag ` + s[1] + `">` + template.HTMLEscapeString(s[0]) + `</span>`) //nolint:gosec // escaped
}

// bundle gathers named values for a block that needs several: {{template "x" bundle "a" 1 "b" 2}}.
func bundle(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("%d names and values are not in pairs", len(pairs))
	}
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("a name is no text but %T", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}

// lines parts a text, as a page shows line breaks by elements alone.
func lines(text string) []string { return strings.Split(text, "\n") }
