package shell

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/teamtime"
)

// templateFuncs are the functions available in templates.
var templateFuncs = template.FuncMap{
	"asset": assetPath, "bytes": Bytes, "type": typeName, "network": NetworkName, "way": WayName,
	"when": When, "count": Count, "plural": Plural, "state": State, "bundle": bundle, "lines": lines,
	"time": Time, "percent": Percent, "icon": Icon, "logo": NetworkLogo, "initials": Initials,
}

// networkNames are the display names of networks.
var networkNames = map[string]string{
	"instagram": "Instagram", "facebook": "Facebook", "tiktok": "TikTok", "tiktok_business": "TikTok for Business",
	"youtube":  "YouTube",
	"linkedin": "LinkedIn", "x": "X", "threads": "Threads", "pinterest": "Pinterest", "bluesky": "Bluesky",
}

// NetworkName returns the display name of a network, or the platform's identifier.
func NetworkName(platform string) string {
	if name, ok := networkNames[platform]; ok {
		return name
	}
	return platform
}

// wayNames are the display names of sign-in methods of networks with several.
var wayNames = map[string]string{
	"instagram/instagram": "Instagram", "instagram/facebook": "Facebook", "tiktok/": "TikTok",
	"tiktok/business": "TikTok for Business", "linkedin/company": "LinkedIn for companies",
}

// WayName returns the display name of a network's sign-in method, or the network's name.
func WayName(platform, kind string) string {
	if name, ok := wayNames[strings.TrimSuffix(platform, "_business")+"/"+kind]; ok {
		return name
	}
	return NetworkName(platform)
}

// Bytes returns a size in human-readable form.
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

// typeNames are the display names of media types.
var typeNames = map[string]string{
	"image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WebP", "image/gif": "GIF", "video/mp4": "MP4",
	"video/quicktime": "QuickTime",
}

// typeName returns the display name of a media type, or the type itself.
func typeName(kind string) string {
	if name, ok := typeNames[kind]; ok {
		return name
	}
	return kind
}

// When returns an instant in the visitor's time zone as a time element: "Sat 21 Nov 2026, 12:00". It returns nothing for
// nil.
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

// Time returns an instant in its own zone as a time element.
func Time(at time.Time) template.HTML {
	text := `<time datetime="` + at.Format(time.RFC3339) + `">` + at.Format("Mon 2 Jan 2006, 15:04") + `</time>`
	return template.HTML(text) //nolint:gosec // contains only digits and English names
}

// Change formats the change of a count with its sign.
func Change(n *int64) template.HTML {
	switch {
	case n == nil:
		return "–"
	case *n > 0:
		return template.HTML(`<span class="up">+` + Count(*n) + `</span>`) //nolint:gosec // a number
	case *n < 0:
		return template.HTML(`<span class="down">−` + Count(-*n) + `</span>`) //nolint:gosec // a number
	}
	return "0"
}

// Count returns a whole number with thousands separators, 1,234,567, or a dash if it is missing.
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

// Percent returns a share of 1 as a percentage with one decimal: 12.3%.
func Percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + "%" }

// Plural returns a number with its noun: 1 post, 2 posts.
func Plural(n any, one, many string) string {
	if text := Count(n); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}

// stateTag is how a state is shown.
type stateTag struct{ label, style, icon string }

var states = map[string]stateTag{
	"draft":               {"Draft", "plain", "draft-line"},
	"scheduled":           {"Scheduled", "", "time-line"},
	"processing":          {"Publishing", "info", "loader-4-line"},
	"published":           {"Published", "good", "check-line"},
	"partially_published": {"Partly published", "bad", "error-warning-line"},
	"failed":              {"Failed", "bad", "error-warning-line"},
	"pending":             {"Pending", "plain", "time-line"},
	"sending":             {"Sending", "info", "loader-4-line"},
	"unconfirmed":         {"Unconfirmed", "warn", "question-line"},
	"running":             {"Running", "info", "loader-4-line"},
	"succeeded":           {"Done", "good", "check-line"},
	"partially_succeeded": {"Partly done", "bad", "error-warning-line"},
	"ready":               {"Ready", "good", "check-line"},
	"error":               {"Failed", "bad", "error-warning-line"},
	"connected":           {"Connected", "good", "check-line"},
	"expiring":            {"Expires soon", "warn", "time-line"},
	"lost":                {"Connection lost", "bad", "plug-line"},
	"waiting":             {"Waiting for approval", "warn", "hourglass-line"},
	"approved":            {"Approved", "good", "check-line"},
	"rejected":            {"Changes requested", "bad", "pencil-line"},
}

// State returns the tag of a state.
func State(name any) (template.HTML, error) {
	s, ok := states[fmt.Sprint(name)]
	if !ok {
		s = stateTag{label: strings.ReplaceAll(fmt.Sprint(name), "_", " "), style: "plain", icon: "information-line"}
	}
	icon, err := Icon(s.icon)
	//nolint:gosec // the styles are ours
	return `<span class="tag ` + template.HTML(s.style) + `">` + icon + template.HTML(template.HTMLEscapeString(s.label)) +
		`</span>`, err
}

// bundle returns named values as a map, for a block that needs several: {{template "x" bundle "a" 1 "b" 2}}.
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

// lines splits a text into lines, because HTML shows line breaks only as elements.
func lines(text string) []string { return strings.Split(text, "\n") }
