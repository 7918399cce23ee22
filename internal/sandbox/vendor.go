package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	vendorPage    = 20 // items
	maxVendorPage = 50
)

// vendorTypes are the media types of a platform's profiles. True marks those that are paged.
var vendorTypes = map[string]map[string]bool{
	"instagram": {
		"profile": true, "avatar": false, "posts": true, "reels": true, "stories": false, "highlights": false,
	},
	"tiktok": {"profile": true, "avatar": false, "posts": true, "playlists": false},
}

type vendorError struct {
	Error string `json:"error"`
}

// vendor serves the public world by pressroom's bridge contract (docs/bridge.md), without a token.
type vendor struct{ *shared }

func newVendor(s *shared) *vendor { return &vendor{s} }

func (s *vendor) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{platform}/profiles/{username}/media", s.vendorMedia)
	mux.HandleFunc("GET /v1/{platform}/profiles/{username}", s.vendorProfile)
	mux.HandleFunc("GET /v1/{platform}/hashtags/{hashtag}", s.vendorHashtag)
	mux.HandleFunc("GET /files/{size}/{file}", vendorFile)
	return mux
}

// vendorShows reports whether a profile is public. If not, it answers the request.
func (s *vendor) vendorShows(w http.ResponseWriter, name string) bool {
	switch {
	case !usernamePattern.MatchString(name) || strings.HasPrefix(name, markMissing):
		writeJSON(w, http.StatusNotFound, vendorError{"profile_not_found"})
	case strings.HasPrefix(name, markPrivate):
		writeJSON(w, http.StatusForbidden, vendorError{"profile_private"})
	case strings.HasPrefix(name, markFailing):
		writeJSON(w, http.StatusInternalServerError, vendorError{"internal"})
	case strings.HasPrefix(name, markSlowly) && !s.pause(slowWorld):
		cut(w)
	default:
		return true
	}
	return false
}

func (s *vendor) vendorMedia(w http.ResponseWriter, r *http.Request) {
	if !s.vendorShows(w, r.PathValue("username")) {
		return
	}
	request, refused := s.vendorAsk(r)
	if refused != "" {
		writeJSON(w, http.StatusBadRequest, vendorError{refused})
		return
	}
	writeJSON(w, http.StatusOK, request.answer(s.vendorFiles(r)))
}

// vendorFiles returns the prefix of the files' addresses.
func (s *vendor) vendorFiles(r *http.Request) string { return s.baseURL(r) + "/vendor/files/" }

// vendorAsk is a request for media of a profile.
type vendorAsk struct {
	profile worldProfile
	kind    string // of media
	limit   int
	cursor  vendorCursor
	now     time.Time
}

// vendorAsk parses a request. It returns the error code of an invalid one.
func (s *vendor) vendorAsk(r *http.Request) (vendorAsk, string) {
	query, now := r.URL.Query(), s.now().UTC()
	request := vendorAsk{
		profile: worldProfile{platform: r.PathValue("platform"), name: r.PathValue("username")},
		kind:    query.Get("type"), now: now, cursor: vendorCursor{Type: query.Get("type"), Day: dayOf(now)},
	}
	if _, known := vendorTypes[request.profile.platform][request.kind]; !known {
		return request, "invalid_type"
	}
	limit, good := vendorLimit(query.Get("limit"), maxVendorPage)
	if !good {
		return request, "invalid_limit"
	}
	request.limit = limit
	if text := query.Get("cursor"); text != "" {
		var good bool
		if request.cursor, good = request.cursor.resumed(text); !good || !vendorTypes[request.profile.platform][request.kind] {
			return request, "invalid_cursor"
		}
	}
	return request, ""
}

// vendorLimit parses a limit, and reports whether it is valid.
func vendorLimit(text string, most int) (int, bool) {
	if text == "" {
		return vendorPage, true
	}
	limit, err := strconv.Atoi(text)
	return limit, err == nil && limit >= 1 && limit <= most
}

// vendorItem is an item of the contract.
type vendorItem struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	URL      string  `json:"url"`
	TakenAt  string  `json:"taken_at,omitempty"`
	Caption  string  `json:"caption,omitempty"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	Duration float64 `json:"duration_seconds,omitempty"`
}

type vendorAnswer struct {
	Items []vendorItem `json:"items"`
	Next  string       `json:"next_cursor,omitempty"`
}

func (a *vendorAsk) answer(files string) vendorAnswer {
	all := a.media()
	from, to, next := a.cursor.page(len(all), a.limit)
	answer := vendorAnswer{Items: slices.Clone(all[from:to])}
	for i := range answer.Items {
		answer.Items[i].URL = files + answer.Items[i].URL
	}
	if answer.Items == nil {
		answer.Items = []vendorItem{}
	}
	if vendorTypes[a.profile.platform][a.kind] {
		answer.Next = next
	}
	return answer
}
