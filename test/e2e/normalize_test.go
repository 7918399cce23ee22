package e2e

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	uploadSecret  = regexp.MustCompile(`pru_[0-9A-Za-z]{38}`)
	itemPage      = regexp.MustCompile(`/(media|voices|hashtags|hashtag-lists)/[0-9]+(\?|$)`)
	ofTeam        = regexp.MustCompile(`team_id=[0-9]+`)
	uuidForm      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	recordKeyForm = regexp.MustCompile(`/post/[2-7a-z]{13}`)
)

// volatileMetrics lists the metrics of a hashtag report that change every second, because new posts appear.
var volatileMetrics = []string{"best_time", "engagement", "hashtag", "score", "sections", "top_hashtags", "top_words"}

// sharedMetrics lists the metrics of hashtags that all teams share and that are measured on request.
var sharedMetrics = []string{"platform", "posts", "posts_per_day", "score", "tier"}

// isFound reports whether an object is a hashtag with such metrics. In reports, a hashtag's posts are a plain number.
func isFound(v map[string]any) bool {
	_, counted := v["posts"].(float64)
	return v["hashtag"] != nil && !counted
}

// normaliser makes the answers of two equal environments comparable. It replaces IDs by numbers in order of
// appearance, current times by "now", and cursors and links by placeholders.
type normaliser struct {
	w     *env
	named map[string]string
}

// normalize returns the parts of an answer that must be equal for REST and MCP.
func (w *env) normalize(a answer) map[string]any {
	n := &normaliser{w, map[string]string{}}
	out := map[string]any{"status": a.status}
	for _, part := range []string{"data", "meta", "page", "billing", "untrusted_content", "notes", "code", "title", "detail", "context"} {
		if value, ok := a.body[part]; ok {
			out[part] = n.value(value, part)
		}
	}
	return out
}

func (n *normaliser) value(value any, name string) any {
	switch v := value.(type) {
	case map[string]any:
		return n.members(v, name)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = n.value(item, name)
		}
		return out
	case float64:
		if v != math.Trunc(v) {
			return v
		}
		return n.number(int64(v), name)
	case string:
		if name == "cursor" {
			return "<cursor>"
		}
		return n.text(v)
	}
	return value
}

// members normalizes an object in a fixed order, so that IDs are numbered equally. list is the name of the enclosing
// list.
func (n *normaliser) members(v map[string]any, list string) any {
	if utc, ok := v["utc"].(string); ok && len(v) == 2 {
		at, err := time.Parse(time.RFC3339Nano, utc)
		days := time.Until(at).Round(24 * time.Hour)
		switch {
		case err == nil && time.Since(at).Abs() < time.Hour:
			return "<now>"
		case err == nil && (time.Until(at)-days).Abs() < time.Hour:
			return "<now and " + days.String() + ">"
		}
	}
	if list == "result" && v["related"] != nil {
		v = mergeArgs(v, map[string]any{"hashtags": "<hashtags>", "incomplete": "<hashtags>", "related": "<hashtags>"})
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if v["kind"] == "hashtag" && slices.Contains(volatileMetrics, name) {
			out[name] = "<figures>"
			continue
		}
		if slices.Contains(sharedMetrics, name) && isFound(v) {
			continue
		}
		as := name
		if name == "id" && strings.HasSuffix(list, "accounts") {
			as = "account_id"
		}
		out[name] = n.value(v[name], as)
	}
	return out
}

// number replaces an account's ID by its index in the env, and a waiting time by a placeholder. name is the name of
// the member or of its list.
func (n *normaliser) number(v int64, name string) any {
	switch name {
	case "id", "media_id", "folder_id", "series_id":
		return "<id>"
	case "retry_after_seconds":
		return "<seconds>" // the two calls were made at different times
	case "account_id":
		return fmt.Sprintf("<account %d>", slices.Index(n.w.accounts, v))
	}
	return v
}

func (n *normaliser) text(v string) string {
	v = strings.ReplaceAll(recordKeyForm.ReplaceAllString(v, "/post/<record>"), n.w.root, "<root>")
	v = itemPage.ReplaceAllString(uploadSecret.ReplaceAllString(v, "<secret>"), "/$1/<id>$2")
	v = connectForm.ReplaceAllString(v, "/connect/<token>")
	v = ofTeam.ReplaceAllStringFunc(v, func(of string) string {
		if of == "team_id="+number(n.w.team) { // another team's account is not replaced
			return "team_id=<team>"
		}
		return of
	})
	return uuidForm.ReplaceAllStringFunc(v, func(id string) string {
		if n.named[id] == "" {
			n.named[id] = fmt.Sprintf("<uuid %d>", len(n.named)+1)
		}
		return n.named[id]
	})
}
