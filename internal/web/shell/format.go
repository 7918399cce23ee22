package shell

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
)

// funcs returns the functions that are available in the templates of a language.
func funcs(l *locale.Language) template.FuncMap {
	return template.FuncMap{
		"t": l.T, "n": l.N, "th": l.H, "nh": l.NH, "role": func(r access.Role) string { return RoleName(l, r) },
		"asset": assetPath, "textscript": func() string { return textScript(l) },
		"bytes": l.Bytes, "limit": func(n int64) string { return l.Bytes(RoundLimit(n)) }, "type": typeName,
		"network": NetworkName, "way": ConnectMethodName,
		"when": func(m *teamtime.Moment) template.HTML { return MomentHTML(l, m) }, "count": l.Count,
		"daylist": l.DayList,
		"state":   func(name any) (template.HTML, error) { return stateHTML(l, name) }, "bundle": dict, "lines": splitLines,
		"time":   func(at time.Time) template.HTML { return TimeHTML(l, at) },
		"ago":    func(at, now time.Time) template.HTML { return RelativeTimeHTML(l, at, now) },
		"near":   func(at any, now time.Time) (template.HTML, error) { return shortTimeHTML(l, at, now) },
		"moment": func(at time.Time) template.HTML { return TimeHTML(l, at) }, "percent": l.Percent, "icon": Icon,
		"appkind": func(k AppKind) string { return l.T(locale.Key(k)) }, "connectedapp": AppOf,
		"logo": NetworkLogo, "initials": Initials, "change": func(n *int64) template.HTML { return ChangeHTML(l, n) },
	}
}

// networkNames maps platform identifiers to the display names of networks.
var networkNames = map[string]string{
	"instagram": "Instagram", "facebook": "Facebook", "tiktok": "TikTok", "tiktok_business": "TikTok for Business",
	"youtube":  "YouTube",
	"linkedin": "LinkedIn", "x": "X", "threads": "Threads", "pinterest": "Pinterest", "bluesky": "Bluesky",
}

// NetworkName returns the display name of a network, or the platform identifier if it is unknown.
func NetworkName(platform string) string {
	if name, ok := networkNames[platform]; ok {
		return name
	}
	return platform
}

// connectMethodNames maps platforms and kinds, joined by a slash, to the display names of sign-in methods. It contains
// only networks with more than one method.
var connectMethodNames = map[string]string{
	"instagram/instagram": "Instagram", "instagram/facebook": "Facebook", "tiktok/": "TikTok",
	"tiktok/business": "TikTok for Business", "linkedin/company": "LinkedIn for companies",
}

// ConnectMethodName returns the display name of a network's sign-in method, or the network's name if it has only one
// method.
func ConnectMethodName(platform, kind string) string {
	if name, ok := connectMethodNames[strings.TrimSuffix(platform, "_business")+"/"+kind]; ok {
		return name
	}
	return NetworkName(platform)
}

// Bytes formats a size in bytes in English.
func Bytes(n int64) string { return locale.English.Bytes(n) }

// RoundLimit converts a limit of whole GiB or MiB to the same number of decimal GB or MB, so that pages show 50 MiB as
// 50 MB rather than 52 MB. It returns other limits unchanged.
func RoundLimit(n int64) int64 {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return n >> 30 * 1e9
	case n >= 1<<20 && n%(1<<20) == 0:
		return n >> 20 * 1e6
	}
	return n
}

// typeNames maps media types to their display names.
var typeNames = map[string]string{
	"image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WebP", "image/gif": "GIF", "video/mp4": "MP4",
	"video/quicktime": "QuickTime",
}

// typeName returns the display name of a media type, or the type itself if it is unknown.
func typeName(mediaType string) string {
	if name, ok := typeNames[mediaType]; ok {
		return name
	}
	return mediaType
}

// MomentHTML returns a moment as a time element in the time zone of its field Team, such as "Sat 21 Nov 2026, 12:00".
// It returns "" for nil.
func MomentHTML(l *locale.Language, m *teamtime.Moment) template.HTML {
	if m == nil {
		return ""
	}
	at, err := time.Parse(time.RFC3339Nano, m.Team)
	if err != nil {
		return ""
	}
	return TimeHTML(l, at)
}

// TimeHTML returns an instant as an HTML time element, in the instant's own time zone.
func TimeHTML(l *locale.Language, at time.Time) template.HTML {
	text := `<time datetime="` + at.Format(time.RFC3339) + `">` + l.Format(at, locale.DateTime) + `</time>`
	return template.HTML(text) //nolint:gosec // contains only digits and our own texts
}

// shortTimeHTML is like ShortTimeHTML for a time.Time or a *teamtime.Moment.
func shortTimeHTML(l *locale.Language, instant any, now time.Time) (template.HTML, error) {
	at, ok := instant.(time.Time)
	if m, isMoment := instant.(*teamtime.Moment); isMoment {
		if m == nil {
			return "", nil
		}
		var err error
		if at, err = time.Parse(time.RFC3339Nano, m.Team); err != nil {
			return "", fmt.Errorf("near: %w", err)
		}
	} else if !ok {
		return "", fmt.Errorf("near: instant has type %T, want a time", instant)
	}
	return ShortTimeHTML(l, at, now), nil
}

// ShortTimeHTML is like TimeHTML, but omits the year if it is the current one.
func ShortTimeHTML(l *locale.Language, at, now time.Time) template.HTML {
	layout := locale.DateTime
	if at.Year() == now.In(at.Location()).Year() {
		layout = locale.ShortTime
	}
	text := `<time datetime="` + at.Format(time.RFC3339) + `">` + l.Format(at, layout) + `</time>`
	return template.HTML(text) //nolint:gosec // contains only digits and our own texts
}

// RelativeTimeHTML returns a past instant relative to now, such as "2 hours ago", as a time element with the exact time
// as its title. Future instants, and those at least a week ago, are shown as dates.
func RelativeTimeHTML(l *locale.Language, at, now time.Time) template.HTML {
	elapsed := now.Sub(at)
	var text string
	switch {
	case elapsed < -time.Minute || elapsed >= 7*24*time.Hour:
		text = l.Format(at, locale.Day)
	case elapsed < time.Minute:
		text = l.T("just now")
	case elapsed < time.Hour:
		text = l.N(int(elapsed.Minutes()), "%d minute ago", "%d minutes ago")
	case elapsed < 24*time.Hour:
		text = l.N(int(elapsed.Hours()), "%d hour ago", "%d hours ago")
	default:
		text = l.N(int(elapsed.Hours()/24), "%d day ago", "%d days ago")
	}
	exact := l.Format(at, locale.DateTime)
	if at.Location() == time.UTC {
		exact += " UTC"
	}
	//nolint:gosec // contains only digits and our own texts
	return template.HTML(`<time datetime="` + at.Format(time.RFC3339) + `" title="` + exact + `">` + text + `</time>`)
}

// When is MomentHTML in English.
func When(m *teamtime.Moment) template.HTML { return MomentHTML(locale.English, m) }

// Time is TimeHTML in English.
func Time(at time.Time) template.HTML { return TimeHTML(locale.English, at) }

// ChangeHTML formats the change of a count with its sign. It returns a dash for nil.
func ChangeHTML(l *locale.Language, n *int64) template.HTML {
	switch {
	case n == nil:
		return "–"
	case *n > 0:
		return template.HTML(`<span class="up">+` + l.Count(*n) + `</span>`) //nolint:gosec // a number
	case *n < 0:
		return template.HTML(`<span class="down">−` + l.Count(-*n) + `</span>`) //nolint:gosec // a number
	}
	return "0"
}

// stateTag describes how a state is shown.
type stateTag struct {
	label       locale.Key
	style, icon string
}

var states = map[string]stateTag{
	"draft":               {"Draft", "plain", "draft-line"},
	"scheduled":           {"Scheduled", "", "time-line"},
	"processing":          {"Publishing", "info", "loader-4-line"},
	"published":           {"Published", "good", "check-line"},
	"partially_published": {"Partially published", "bad", "error-warning-line"},
	"failed":              {"Failed", "bad", "error-warning-line"},
	"pending":             {"Pending", "plain", "time-line"},
	"sending":             {"Sending", "info", "loader-4-line"},
	"unconfirmed":         {"Unconfirmed", "warn", "question-line"},
	"running":             {"Running", "info", "loader-4-line"},
	"succeeded":           {"Done", "good", "check-line"},
	"partially_succeeded": {"Partially completed", "bad", "error-warning-line"},
	"ready":               {"Ready", "good", "check-line"},
	"error":               {"Failed", "bad", "error-warning-line"},
	"connected":           {"Connected", "good", "check-line"},
	"expiring":            {"Expires soon", "warn", "time-line"},
	"lost":                {"Connection lost", "bad", "plug-line"},
	"waiting":             {"Waiting for approval", "warn", "hourglass-line"},
	"approved":            {"Approved", "good", "check-line"},
	"rejected":            {"Changes requested", "bad", "pencil-line"},
}

// stateHTML returns the tag that shows a state. An unknown state is shown by its name.
func stateHTML(l *locale.Language, name any) (template.HTML, error) {
	s, ok := states[fmt.Sprint(name)]
	label := l.T(s.label)
	if !ok {
		label, s.style, s.icon = strings.ReplaceAll(fmt.Sprint(name), "_", " "), "plain", "information-line"
	}
	icon, err := Icon(s.icon)
	//nolint:gosec // the styles are constants
	return `<span class="tag ` + template.HTML(s.style) + `">` + icon + template.HTML(template.HTMLEscapeString(label)) +
		`</span>`, err
}

// roleNames maps roles to their display names in lists.
var roleNames = map[access.Role]locale.Key{
	access.Owner: "owner", access.Admin: "admin", access.Editor: "editor", access.Viewer: "viewer", access.Client: "client",
}

// RoleName returns the display name of a role in lists.
func RoleName(l *locale.Language, r access.Role) string {
	if name, ok := roleNames[r]; ok {
		return l.T(name)
	}
	return string(r)
}

// dict returns named values as a map, for a template that needs several values: {{template "x" bundle "a" 1 "b" 2}}.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("bundle: odd number of arguments: %d", len(pairs))
	}
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("bundle: name has type %T, want string", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}

// splitLines splits a text into lines, because HTML does not show line breaks in text.
func splitLines(text string) []string { return strings.Split(text, "\n") }
