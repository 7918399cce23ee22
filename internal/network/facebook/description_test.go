package facebook_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pressroom/internal/network/networktest"
)

// Requests and the sandbox's responses match the network's description: calls, parameters and fields. The test lists
// what the description lacks: signing in, paging, the tasks of Pages, and business portfolios.
func TestCallsAreDescribed(t *testing.T) {
	t.Parallel()
	page, post := networktest.ObjectOf(t, "Page"), networktest.ObjectOf(t, "PagePost")
	video := networktest.ObjectOf(t, "AdVideo")
	f := networktest.New(t, adapter, 0)
	f.MakeEveryCall()
	for _, r := range f.Wire.Requests("") {
		if r.Status != http.StatusOK {
			continue
		}
		sent := r.Params()
		delete(sent, "appsecret_proof")                                // any call may have it
		parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 4) // facebook, host, version, path
		var params, fields []string
		_, edge, _ := strings.Cut(parts[3], "/")
		switch call := r.Method + " " + edge; {
		case parts[3] == "oauth/access_token":
			params = []string{"client_id", "client_secret", "redirect_uri", "code", "grant_type", "fb_exchange_token"}
			fields = []string{"access_token", "token_type", "expires_in"}
		case parts[3] == "me/permissions":
			params, fields = []string{"access_token"}, []string{"permission", "status"}
		case parts[3] == "me/accounts":
			params, fields = []string{"access_token", "fields", "limit"}, page.Names("tasks")
		case parts[3] == "me/businesses": // an edge of User; what it lists is not described
			params, fields = []string{"access_token", "fields", "limit"}, []string{"id", "name"}
		case call == "GET published_posts":
			params, fields = append(page.Params("GET", edge), "fields", "since"), post.Names("attachments")
		case call == "GET " && strings.Contains(sent.Get("fields"), "status"):
			params, fields = []string{"access_token", "fields"}, video.Names()
		case call == "GET ":
			params, fields = []string{"access_token", "fields"}, post.Names()
		default:
			params, fields = page.Params(r.Method, edge), []string{
				"id", "success", "video_id", "upload_session_id", "start_offset", "end_offset",
			}
		}
		networktest.WantDescribed(t, r.Method+" "+parts[3], params, slices.Collect(maps.Keys(sent)))
		networktest.WantDescribed(t, "the fields of "+parts[3], fields,
			strings.FieldsFunc(sent.Get("fields"), func(r rune) bool { return r == ',' }))
		networktest.WantDescribed(t, "the answer to "+parts[3], fields, memberNames(t, r.Answer))
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

// Requested fields exist on Pages and posts, and posts have insights. Metrics and counts are not described.
func TestCollectIsDescribed(t *testing.T) {
	t.Parallel()
	page, post := networktest.ObjectOf(t, "Page"), networktest.ObjectOf(t, "PagePost")
	networktest.WantDescribed(t, "a Page", page.Names(), []string{"followers_count", "picture"})
	networktest.WantDescribed(t, "a post", post.Names(),
		[]string{"id", "message", "created_time", "permalink_url", "shares"})
	networktest.WantDescribed(t, "insights", post.Params("GET", "insights"), []string{"metric"})
}
