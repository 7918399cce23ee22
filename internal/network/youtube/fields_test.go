package youtube_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network/networktest"
)

var (
	data      = networktest.LoadDiscovery("youtube.json")
	analytics = networktest.LoadDiscovery("youtube-analytics.json")
)

// checkCall checks that a request and its response match Google's API descriptions. The token endpoint and errors are
// not described.
func checkCall(t *testing.T, r networktest.Request) {
	path := r.TrimBase("/youtube")
	if !isTokenCall(r) {
		if !data().Check(t, r, path) && !analytics().Check(t, r, path) {
			t.Errorf("the API has no %s %s", r.Method, path)
		}
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
			t.Errorf("%s %s without a token", r.Method, path)
		}
	}
	checkAnswer(t, r, r.Status, r.ResponseBody)
}

func isDescribed(r networktest.Request) bool { return !isTokenCall(r) }

// isTokenCall reports whether a request is for a token endpoint, which has a different response format.
func isTokenCall(s networktest.Request) bool {
	return s.URL.Path == "/youtube/token" || s.URL.Path == "/youtube/revoke"
}

// checkAnswer checks that a response has only documented members.
func checkAnswer(t *testing.T, s networktest.Request, status int, body []byte) {
	switch {
	case status == http.StatusPermanentRedirect || s.Method == http.MethodPost && s.URL.Path == upload && status == http.StatusOK:
		if len(body) > 0 {
			t.Errorf("%s: HTTP %d with a body", s.URL.Path, status)
		}
	case status >= http.StatusBadRequest && !isTokenCall(s):
		checkMembers(t, s.URL.Path, map[string][]string{"": {"error"}, "error": {"code", "message", "errors", "status"}}, body)
	}
}

// checkMembers checks that an object and the objects in it have only the members in known.
func checkMembers(t *testing.T, where string, known map[string][]string, body []byte) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		t.Errorf("%s: %v: %s", where, err, body)
	}
	for name, inner := range object {
		if !slices.Contains(known[""], name) {
			t.Errorf("%s: unknown member %s", where, name)
		}
		if members, deeper := known[name]; deeper {
			checkMembers(t, where+" "+name, map[string][]string{"": members}, inner)
		}
	}
}
