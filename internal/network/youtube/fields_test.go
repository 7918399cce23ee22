package youtube_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pressroom/internal/network/networktest"
)

// The documented parameters of each call, and the members of its request and response, as far as they are used.
var (
	callQueries = map[string][]string{
		"POST " + upload:                        {"uploadType", "part", "notifySubscribers"},
		"PUT " + upload:                         {"uploadType", "upload_id"},
		"GET /youtube/youtube/v3/channels":      {"part", "mine", "id", "maxResults"},
		"GET /youtube/youtube/v3/playlistItems": {"part", "playlistId", "maxResults", "pageToken"},
		"GET /youtube/youtube/v3/videos":        {"part", "id", "maxResults"},
		"GET /youtube/v2/reports": {
			"ids", "startDate", "endDate", "metrics", "dimensions", "filters", "sort", "maxResults", "startIndex", "currency",
		},
		"POST /youtube/token":  nil,
		"POST /youtube/revoke": nil,
	}
	insertMembers = map[string][]string{
		"":        {"snippet", "status"},
		"snippet": {"title", "description", "tags", "categoryId", "defaultLanguage"},
		"status": {
			"privacyStatus", "publishAt", "selfDeclaredMadeForKids", "license", "embeddable", "publicStatsViewable",
			"containsSyntheticMedia",
		},
	}
	listMembers = []string{"kind", "etag", "nextPageToken", "prevPageToken", "pageInfo", "items"}
	resources   = map[string]map[string][]string{
		"youtube#channel": {
			"":               {"kind", "etag", "id", "snippet", "contentDetails", "statistics", "status"},
			"snippet":        {"title", "description", "customUrl", "publishedAt", "thumbnails", "defaultLanguage", "localized", "country"},
			"contentDetails": {"relatedPlaylists"},
			"statistics":     {"viewCount", "subscriberCount", "hiddenSubscriberCount", "videoCount", "commentCount"},
		},
		"youtube#playlistItem": {
			"": {"kind", "etag", "id", "snippet", "contentDetails", "status"},
			"snippet": {
				"publishedAt", "channelId", "title", "description", "thumbnails", "channelTitle", "playlistId", "position", "resourceId",
				"videoOwnerChannelTitle", "videoOwnerChannelId",
			},
		},
		"youtube#video": {
			"":           {"kind", "etag", "id", "snippet", "status", "processingDetails", "statistics", "contentDetails"},
			"statistics": {"viewCount", "likeCount", "dislikeCount", "favoriteCount", "commentCount"},
			"snippet": {
				"publishedAt", "channelId", "title", "description", "thumbnails", "channelTitle", "tags", "categoryId",
				"liveBroadcastContent",
				"defaultLanguage", "localized",
			},
			"status": {
				"uploadStatus", "failureReason", "rejectionReason", "privacyStatus", "publishAt", "license",
				"embeddable", "publicStatsViewable",
				"madeForKids", "selfDeclaredMadeForKids",
			},
		},
	}
)

// checkCall checks that a request and its response have only documented parameters and members.
func checkCall(t *testing.T, r networktest.Request) {
	checkRequest(t, r)
	checkAnswer(t, r, r.Status, r.Answer)
}

// checkRequest checks that a request has only documented parameters and members.
func checkRequest(t *testing.T, s networktest.Request) {
	known, found := callQueries[s.Method+" "+s.URL.Path]
	if !found {
		t.Errorf("the API has no %s %s", s.Method, s.URL.Path)
	}
	for name := range s.URL.Query() {
		if !slices.Contains(known, name) {
			t.Errorf("%s has no parameter %s", s.URL.Path, name)
		}
	}
	if !isTokenCall(s) && !strings.HasPrefix(s.Header.Get("Authorization"), "Bearer ") {
		t.Errorf("%s %s without a token", s.Method, s.URL.Path)
	}
	if s.Method == http.MethodPost && s.URL.Path == upload {
		checkMembers(t, s.URL.Path, insertMembers, s.Body)
	}
}

// isTokenCall reports whether a request is about tokens; their responses have a format of their own.
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
	case s.Method == http.MethodGet && s.URL.Path == "/youtube/v2/reports":
		checkMembers(t, s.URL.Path, map[string][]string{"": {"kind", "columnHeaders", "rows", "errors"}}, body)
	case s.Method == http.MethodGet:
		checkMembers(t, s.URL.Path, map[string][]string{"": listMembers}, body)
		var list struct{ Items []json.RawMessage }
		_ = json.Unmarshal(body, &list)
		for _, item := range list.Items {
			checkResource(t, s.URL.Path, item)
		}
	case s.Method == http.MethodPut:
		checkResource(t, s.URL.Path, body)
	}
}

func checkResource(t *testing.T, where string, body []byte) {
	var of struct{ Kind, ID string }
	if err := json.Unmarshal(body, &of); err != nil || of.ID == "" || resources[of.Kind] == nil {
		t.Errorf("%s: no resource: %s", where, body)
		return
	}
	checkMembers(t, where, resources[of.Kind], body)
}

// checkMembers checks the members of an object and of the objects in it that known has.
func checkMembers(t *testing.T, where string, known map[string][]string, body []byte) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		t.Errorf("%s: %v: %s", where, err, body)
	}
	for name, inner := range object {
		if !slices.Contains(known[""], name) {
			t.Errorf("%s: there is no %s", where, name)
		}
		if members, deeper := known[name]; deeper {
			checkMembers(t, where+" "+name, map[string][]string{"": members}, inner)
		}
	}
}
