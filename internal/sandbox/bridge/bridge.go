// Package bridge simulates a data vendor that implements pressroom's bridge API (docs/bridge.md).
package bridge

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/world"
)

const (
	defaultLimit = 20 // items
	maxLimit     = 50
)

// mediaTypes maps each platform to its media types. The value of a media type is true if its lists are paginated.
var mediaTypes = map[string]map[string]bool{
	"instagram": {
		"profile": true, "avatar": false, "posts": true, "reels": true, "stories": false, "highlights": false,
	},
	"tiktok": {"profile": true, "avatar": false, "posts": true, "playlists": false},
}

type apiError struct {
	Error string `json:"error"`
}

// Bridge serves the public data of package world. It does not require a token.
type Bridge struct{ *base.Server }

// New returns the bridge of the sandbox s.
func New(s *base.Server) *Bridge { return &Bridge{s} }

// Handler returns the handler of the bridge's API.
func (b *Bridge) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{platform}/profiles/{username}/media", b.media)
	mux.HandleFunc("GET /v1/{platform}/profiles/{username}", b.profile)
	mux.HandleFunc("GET /v1/{platform}/hashtags/{hashtag}", b.hashtag)
	mux.HandleFunc("GET /files/{size}/{file}", serveFile)
	return mux
}

// checkProfile reports whether the profile with this name can be read. If not, it sends an error response.
func (b *Bridge) checkProfile(w http.ResponseWriter, name string) bool {
	switch {
	case !world.UsernamePattern.MatchString(name) || strings.HasPrefix(name, world.PrefixMissing):
		base.WriteJSON(w, http.StatusNotFound, apiError{"profile_not_found"})
	case strings.HasPrefix(name, world.PrefixPrivate):
		base.WriteJSON(w, http.StatusForbidden, apiError{"profile_private"})
	case strings.HasPrefix(name, world.PrefixFailing):
		base.WriteJSON(w, http.StatusInternalServerError, apiError{"internal"})
	case strings.HasPrefix(name, world.PrefixSlow) && !b.Pause(world.SlowDelay):
		base.CloseConnection(w)
	default:
		return true
	}
	return false
}

func (b *Bridge) media(w http.ResponseWriter, r *http.Request) {
	if !b.checkProfile(w, r.PathValue("username")) {
		return
	}
	query, code := b.parseQuery(r)
	if code != "" {
		base.WriteJSON(w, http.StatusBadRequest, apiError{code})
		return
	}
	base.WriteJSON(w, http.StatusOK, query.page(b.BaseURL(r)+"/vendor/files/"))
}

// mediaQuery is a request for media of a profile.
type mediaQuery struct {
	profile world.Profile
	kind    string // media type
	limit   int
	cursor  world.Cursor
	now     time.Time
}

// parseQuery parses a request. It returns an error code, or "" if the request is valid.
func (b *Bridge) parseQuery(r *http.Request) (mediaQuery, string) {
	query, now := r.URL.Query(), b.Now().UTC()
	request := mediaQuery{
		profile: world.Profile{Platform: r.PathValue("platform"), Name: r.PathValue("username")},
		kind:    query.Get("type"), now: now, cursor: world.Cursor{Type: query.Get("type"), Day: world.DayOf(now)},
	}
	if _, ok := mediaTypes[request.profile.Platform][request.kind]; !ok {
		return request, "invalid_type"
	}
	var ok bool
	if request.limit, ok = parseLimit(query.Get("limit"), maxLimit); !ok {
		return request, "invalid_limit"
	}
	if text := query.Get("cursor"); text != "" {
		request.cursor, ok = request.cursor.Resume(text)
		if !ok || !mediaTypes[request.profile.Platform][request.kind] {
			return request, "invalid_cursor"
		}
	}
	return request, ""
}

// parseLimit parses a limit, and reports whether it is valid.
func parseLimit(text string, maxLimit int) (int, bool) {
	if text == "" {
		return defaultLimit, true
	}
	limit, err := strconv.Atoi(text)
	return limit, err == nil && limit >= 1 && limit <= maxLimit
}

// Item is an item in the bridge API's format.
type Item struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	URL      string  `json:"url"`
	TakenAt  string  `json:"taken_at,omitempty"`
	Caption  string  `json:"caption,omitempty"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	Duration float64 `json:"duration_seconds,omitempty"`
}

// MediaPage is a page of media.
type MediaPage struct {
	Items []Item `json:"items"`
	Next  string `json:"next_cursor,omitempty"`
}

// page returns the requested page. filesURL is the prefix of the URLs of files.
func (q *mediaQuery) page(filesURL string) MediaPage {
	all := q.media()
	from, to, next := q.cursor.Page(len(all), q.limit)
	page := MediaPage{Items: slices.Clone(all[from:to])}
	for i := range page.Items {
		page.Items[i].URL = filesURL + page.Items[i].URL
	}
	if page.Items == nil {
		page.Items = []Item{}
	}
	if mediaTypes[q.profile.Platform][q.kind] {
		page.Next = next
	}
	return page
}
