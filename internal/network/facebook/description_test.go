package facebook_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network/networktest"
)

// checkCall checks that a request and the sandbox's response match Meta's API description: calls, parameters,
// enumerations and fields. The description lacks sign-in, paging, tasks of Pages, business portfolios, and the host for
// the files of reels.
func checkCall(t *testing.T, r networktest.Request) {
	parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 4) // facebook, host, version, path
	if r.Status != http.StatusOK || parts[1] == "upload" {
		return
	}
	page, post, video := networktest.MetaObject("Page"), networktest.MetaObject("PagePost"), networktest.MetaObject("AdVideo")
	sent := r.Params()
	sent.Del("appsecret_proof") // any call may have it
	var params, fields []string
	_, edge, _ := strings.Cut(parts[3], "/")
	switch call := r.Method + " " + edge; {
	case parts[3] == "oauth/access_token":
		params = []string{"client_id", "client_secret", "redirect_uri", "code", "grant_type", "fb_exchange_token"}
		fields = []string{"access_token", "token_type", "expires_in"}
	case parts[3] == "debug_token": // documented, but missing in the description
		return
	case edge == "permissions":
		params, fields = []string{"access_token"}, []string{"permission", "status", "success"}
	case parts[3] == "me/accounts", edge == "owned_pages", edge == "client_pages":
		params, fields = []string{"access_token", "fields", "limit"}, page.Names("tasks")
	case parts[3] == "me/businesses": // an edge of User whose items are not described
		params, fields = []string{"access_token", "fields", "limit"}, []string{"id", "name"}
	case call == "GET published_posts":
		params, fields = append(page.Params("GET", edge), "since", "after"), post.Names("attachments", "reactions", "comments")
	case edge == "comments": // the fields of comments are not described
		params, fields = append(post.Params(r.Method, edge), "access_token", "fields", "limit"), []string{
			"id", "from", "message", "created_time", "permalink_url",
		}
	case call == "GET stories": // the stories in the response are not described
		params, fields = page.Params("GET", edge), []string{"post_id", "media_id", "media_type", "status", "creation_time", "url"}
	case call == "GET insights": // the metrics are not described
		params, fields = append(post.Params("GET", edge), "access_token"), networktest.MetaObject("InstagramInsightsResult").Names()
	case call == "GET " && strings.Contains(sent.Get("fields"), "status"):
		params, fields = []string{"access_token", "fields"}, video.Names()
	case call == "GET ":
		params, fields = []string{"access_token", "fields"}, post.Names(page.Names()...)
	default:
		params, fields = page.Params(r.Method, edge), []string{
			"id", "success", "video_id", "upload_session_id", "upload_url", "start_offset", "end_offset", "post_id",
		}
		page.CheckValues(t, r.Method, edge, sent)
	}
	networktest.WantDescribed(t, r.Method+" "+parts[3], params, slices.Collect(maps.Keys(sent)))
	networktest.WantDescribed(t, "the fields of "+parts[3], fields, fieldNames(sent.Get("fields")))
	networktest.WantDescribed(t, "the answer to "+parts[3], fields, memberNames(t, r.ResponseBody))
}

// undescribed are the calls that Meta's description lacks.
var undescribed = regexp.MustCompile(`^/facebook/(upload/.*|graph/[^/]+/(oauth/access_token|debug_token|me/businesses|` +
	`[^/]+/(permissions|owned_pages|client_pages)))$`)

func isDescribed(r networktest.Request) bool { return !undescribed.MatchString(r.URL.Path) }

var modifier = regexp.MustCompile(`\.[a-z]+\([a-z0-9_]*\)`)

// fieldNames returns the names in the parameter fields, without modifiers such as limit(0).
func fieldNames(fields string) []string {
	return strings.Split(modifier.ReplaceAllString(fields, ""), ",")
}

// The tests send calls of every described kind.
func TestCallsDescribed(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.MakeEveryCall()
	for _, part := range []string{"/video_reels", "/videos", "/photos", "/feed", "/published_posts", "/me/accounts",
		"/photo_stories", "/video_stories", "/stories"} {
		if f.Transport.Count(part) == 0 {
			t.Errorf("%s was not called", part)
		}
	}
}

// memberNames returns the members of a JSON response, or of the objects that it lists.
func memberNames(t *testing.T, body []byte) []string {
	t.Helper()
	var list struct{ Data []map[string]any }
	var one map[string]any
	if json.Unmarshal(body, &list) != nil || json.Unmarshal(body, &one) != nil {
		t.Errorf("a response that is not JSON: %s", body)
	}
	if _, listed := one["data"]; !listed {
		return slices.Collect(maps.Keys(one))
	}
	var found []string
	for _, o := range list.Data {
		found = slices.AppendSeq(found, maps.Keys(o))
	}
	return found
}
