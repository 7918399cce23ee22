package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The data vendor answers for the public world by pressroom's bridge contract (docs/bridge.md), without a token.

const (
	vendorPage     = 20 // items where no limit is given
	maxVendorPage  = 50
	maxVendorWalks = 7 // days for which a cursor leads on
)

// vendorTypes are those that a platform's profiles have; true where they come in pages.
var vendorTypes = map[string]map[string]bool{
	"instagram": {
		"profile": true, "avatar": false, "posts": true, "reels": true, "stories": false, "highlights": false,
	},
	"tiktok": {"profile": true, "avatar": false, "posts": true, "playlists": false},
}

var vendorName = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

type vendorError struct {
	Error string `json:"error"`
}

func (s *Server) vendorHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{platform}/profiles/{username}/media", s.vendorMedia)
	mux.HandleFunc("GET /v1/{platform}/profiles/{username}", s.vendorProfile)
	mux.HandleFunc("GET /v1/{platform}/hashtags/{hashtag}", s.vendorHashtag)
	mux.HandleFunc("GET /files/{size}/{file}", vendorFile)
	return mux
}

// vendorShows answers for a profile that is not shown, whatever is asked of it. It is true where the profile is.
func (s *Server) vendorShows(w http.ResponseWriter, name string) bool {
	switch {
	case !vendorName.MatchString(name) || strings.HasPrefix(name, markMissing):
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

func (s *Server) vendorMedia(w http.ResponseWriter, r *http.Request) {
	if !s.vendorShows(w, r.PathValue("username")) {
		return
	}
	ask, refused := s.vendorAsk(r)
	if refused != "" {
		writeJSON(w, http.StatusBadRequest, vendorError{refused})
		return
	}
	writeJSON(w, http.StatusOK, ask.answer(s.vendorFiles(r)))
}

// vendorFiles is what the addresses of files begin with.
func (s *Server) vendorFiles(r *http.Request) string { return s.baseURL(r) + "/vendor/files/" }

// vendorAsk is what is asked of one profile.
type vendorAsk struct {
	profile worldProfile
	kind    string // of media
	limit   int
	cursor  vendorCursor
	now     time.Time
}

// vendorCursor says where a page begins. It names the day on which the walk began, so that what is walked stays the
// same when a day ends meanwhile.
type vendorCursor struct {
	Type string `json:"t"`
	Day  int64  `json:"d"` // since 1970
	From int    `json:"f"` // items passed by
}

// vendorAsk reads a request, or says what is wrong with it.
func (s *Server) vendorAsk(r *http.Request) (vendorAsk, string) {
	query, now := r.URL.Query(), s.now().UTC()
	ask := vendorAsk{
		profile: worldProfile{platform: r.PathValue("platform"), name: r.PathValue("username")},
		kind:    query.Get("type"), now: now, cursor: vendorCursor{Type: query.Get("type"), Day: dayOf(now)},
	}
	if _, known := vendorTypes[ask.profile.platform][ask.kind]; !known {
		return ask, "invalid_type"
	}
	limit, good := vendorLimit(query.Get("limit"), maxVendorPage)
	if !good {
		return ask, "invalid_limit"
	}
	ask.limit = limit
	if text := query.Get("cursor"); text != "" {
		var good bool
		if ask.cursor, good = ask.cursor.resumed(text); !good || !vendorTypes[ask.profile.platform][ask.kind] {
			return ask, "invalid_cursor"
		}
	}
	return ask, ""
}

// vendorLimit reads how many items are asked for.
func vendorLimit(text string, most int) (int, bool) {
	if text == "" {
		return vendorPage, true
	}
	limit, err := strconv.Atoi(text)
	return limit, err == nil && limit >= 1 && limit <= most
}

// resumed goes on where a page ended, in a walk that would begin at c. It is false where the cursor is not one of this
// list's, or an old one.
func (c vendorCursor) resumed(text string) (vendorCursor, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, false
	}
	var given vendorCursor
	if err := json.Unmarshal(raw, &given); err != nil {
		return c, false
	}
	return given, given.Type == c.Type && given.From > 0 && given.Day <= c.Day && given.Day > c.Day-maxVendorWalks
}

func (c vendorCursor) String() string {
	raw, _ := json.Marshal(c) //nolint:errchkjson // two numbers and a word
	return base64.RawURLEncoding.EncodeToString(raw)
}

// page is what of so many items a page shows, and the cursor of the next one; empty on the last.
func (c vendorCursor) page(items, limit int) (int, int, string) {
	from := min(c.From, items)
	to := min(from+limit, items)
	if to == items {
		return from, to, ""
	}
	c.From = to
	return from, to, c.String()
}

// vendorItem is an item as the contract has it.
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
