package facebook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pressroom/internal/network"
)

// object is the network's own description of one kind of object: its fields, and what can be called below it.
type object struct {
	Fields []struct{ Name string }
	APIs   []struct {
		Method, Endpoint string
		Params           []struct{ Name string }
	}
}

func described(t *testing.T, name string) object {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "api-descriptions", "meta-"+name+".json"))
	if err != nil {
		t.Skip("the network's description is not here")
	}
	var found object
	if err := json.Unmarshal(file, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func (o object) fields(more ...string) []string {
	for _, f := range o.Fields {
		more = append(more, f.Name)
	}
	return more
}

// params are those of a call below the object; none where it is not described.
func (o object) params(method, endpoint string) []string {
	var names []string
	for _, a := range o.APIs {
		if a.Method == method && strings.Trim(a.Endpoint, "/") == endpoint {
			names = append(names, "access_token") // every call has it
			for _, p := range a.Params {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// What is sent, what is asked for and what the sandbox answers fit what the network describes: the names of calls,
// parameters and fields. What it describes nowhere in a form for machines stands here: signing in, paging, and that a
// Page tells its tasks.
func TestCallsAreDescribed(t *testing.T) {
	t.Parallel()
	page, post, video := described(t, "Page"), described(t, "PagePost"), described(t, "AdVideo")
	w := everyCall(t)
	for _, s := range w.wire.sent {
		parts := strings.SplitN(strings.Trim(s.path, "/"), "/", 4) // facebook, host, version, what is called
		var params, fields []string
		_, edge, _ := strings.Cut(parts[3], "/")
		switch called := s.method + " " + edge; {
		case parts[3] == "oauth/access_token":
			params = []string{"client_id", "client_secret", "redirect_uri", "code", "grant_type", "fb_exchange_token"}
			fields = []string{"access_token", "token_type", "expires_in"}
		case parts[3] == "me/permissions":
			params, fields = []string{"access_token"}, []string{"permission", "status"}
		case parts[3] == "me/accounts":
			params, fields = []string{"access_token", "fields", "limit"}, page.fields("tasks")
		case called == "GET published_posts":
			params, fields = append(page.params("GET", edge), "fields", "since"), post.fields("attachments")
		case called == "GET " && strings.Contains(s.params.Get("fields"), "status"):
			params, fields = []string{"access_token", "fields"}, video.fields()
		case called == "GET ":
			params, fields = []string{"access_token", "fields"}, post.fields()
		default:
			params, fields = page.params(s.method, edge), []string{"id", "success", "video_id", "upload_session_id", "start_offset", "end_offset"}
		}
		wantKnown(t, s.method+" "+parts[3], params, names(s.params))
		wantKnown(t, "the fields of "+parts[3], fields, strings.FieldsFunc(s.params.Get("fields"), func(r rune) bool { return r == ',' }))
		wantKnown(t, "the answer to "+parts[3], fields, answered(t, s.answer))
	}
}

func names[V any](of map[string]V) []string {
	var found []string
	for name := range of {
		found = append(found, name)
	}
	return found
}

// answered are the members of an answer, or of what it lists.
func answered(t *testing.T, body []byte) []string {
	t.Helper()
	var list struct{ Data []map[string]any }
	var one map[string]any
	if json.Unmarshal(body, &list) != nil || json.Unmarshal(body, &one) != nil {
		t.Errorf("an answer that is not JSON: %s", body)
	}
	if _, listed := one["data"]; !listed {
		return names(one)
	}
	var found []string
	for _, o := range list.Data {
		found = append(found, names(o)...)
	}
	return found
}

func wantKnown(t *testing.T, what string, known, used []string) {
	t.Helper()
	for _, name := range used {
		if !slices.Contains(known, name) {
			t.Errorf("%s: %s is not described", what, name)
		}
	}
}

// everyCall makes each call that there is at least once.
func everyCall(t *testing.T) *world {
	t.Helper()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	for _, media := range [][]network.Media{nil, {l.png(t, 9, 9)}, {l.png(t, 9, 9), l.png(t, 8, 8)}, {l.mp4()}} {
		d := w.prepared(g, l, "text https://example.org", media...)
		receipt := w.publish(g, d)
		if _, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.network().Permalink(t.Context(), g, network.Receipt{ID: receipt.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.network().Refresh(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	w.wantHeld(4)
	return w
}
