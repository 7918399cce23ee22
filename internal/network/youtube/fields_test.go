package youtube_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// What the API knows of each call: its parameters, and the members of what is sent and answered, as far as they are used.
var (
	callQueries = map[string][]string{
		"POST " + session:                       {"uploadType", "part", "notifySubscribers"},
		"PUT " + session:                        {"uploadType", "upload_id"},
		"GET /youtube/youtube/v3/channels":      {"part", "mine", "id", "maxResults"},
		"GET /youtube/youtube/v3/playlistItems": {"part", "playlistId", "maxResults", "pageToken"},
		"GET /youtube/youtube/v3/videos":        {"part", "id", "maxResults"},
		"GET /youtube/v2/reports":               {"ids", "startDate", "endDate", "metrics", "dimensions", "filters", "sort", "maxResults", "startIndex", "currency"},
		"POST /youtube/token":                   nil,
		"POST /youtube/revoke":                  nil,
	}
	insertMembers = map[string][]string{
		"":        {"snippet", "status"},
		"snippet": {"title", "description", "tags", "categoryId", "defaultLanguage"},
		"status":  {"privacyStatus", "publishAt", "selfDeclaredMadeForKids", "license", "embeddable", "publicStatsViewable", "containsSyntheticMedia"},
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
				"publishedAt", "channelId", "title", "description", "thumbnails", "channelTitle", "tags", "categoryId", "liveBroadcastContent",
				"defaultLanguage", "localized",
			},
			"status": {
				"uploadStatus", "failureReason", "rejectionReason", "privacyStatus", "publishAt", "license", "embeddable", "publicStatsViewable",
				"madeForKids", "selfDeclaredMadeForKids",
			},
		},
	}
)

// checkRequest checks that a request has only what the API knows.
func checkRequest(t *testing.T, s sent) {
	known, found := callQueries[s.method+" "+s.path]
	if !found {
		t.Errorf("the API has no %s %s", s.method, s.path)
	}
	for name := range s.query {
		if !slices.Contains(known, name) {
			t.Errorf("%s has no parameter %s", s.path, name)
		}
	}
	if !aboutTokens(s) && !strings.HasPrefix(s.header.Get("Authorization"), "Bearer ") {
		t.Errorf("%s %s without a token", s.method, s.path)
	}
	if s.method == http.MethodPost && s.path == session {
		checkMembers(t, s.path, insertMembers, s.body)
	}
}

// aboutTokens tells whether a request is to the network's sign-in, which answers in a form of its own.
func aboutTokens(s sent) bool { return s.path == "/youtube/token" || s.path == "/youtube/revoke" }

// checkAnswer checks that an answer has only what the API has.
func checkAnswer(t *testing.T, s sent, status int, body []byte) {
	switch {
	case status == http.StatusPermanentRedirect || s.method == http.MethodPost && s.path == session && status == http.StatusOK:
		if len(body) > 0 {
			t.Errorf("%s: HTTP %d with a body", s.path, status)
		}
	case status >= http.StatusBadRequest && !aboutTokens(s):
		checkMembers(t, s.path, map[string][]string{"": {"error"}, "error": {"code", "message", "errors", "status"}}, body)
	case s.method == http.MethodGet && s.path == "/youtube/v2/reports":
		checkMembers(t, s.path, map[string][]string{"": {"kind", "columnHeaders", "rows", "errors"}}, body)
	case s.method == http.MethodGet:
		checkMembers(t, s.path, map[string][]string{"": listMembers}, body)
		var list struct{ Items []json.RawMessage }
		_ = json.Unmarshal(body, &list)
		for _, item := range list.Items {
			checkResource(t, s.path, item)
		}
	case s.method == http.MethodPut:
		checkResource(t, s.path, body)
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

// checkMembers checks the members of an object, and of those in it that the table has.
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
