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

// The data vendor answers for public profiles by pressroom's bridge contract (docs/bridge.md), without a token.
// Every profile has a beginning of its name that asks for a certain outcome, or is there and has media.
const (
	markMissing = "missing." // there is no such profile
	markPrivate = "private." // not shown to the public
	markEmpty   = "empty."   // an avatar and nothing else
	markFailing = "error."   // the vendor fails
	markSlowly  = "slow."    // the vendor takes slowVendor
)

const (
	slowVendor     = 3 * time.Second
	vendorPage     = 20 // items where no limit is given
	maxVendorPage  = 50
	maxVendorWalks = 7 // days for which a cursor leads on
)

// vendorTypes are those that a platform's profiles have; true where they come in pages.
var vendorTypes = map[string]map[string]bool{
	"instagram": {"profile": true, "avatar": false, "posts": true, "reels": true, "stories": false, "highlights": false},
	"tiktok":    {"profile": true, "avatar": false, "posts": true, "playlists": false},
}

var vendorName = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

type vendorError struct {
	Error string `json:"error"`
}

func (s *Server) vendorHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{platform}/profiles/{username}/media", s.vendorMedia)
	mux.HandleFunc("GET /files/{size}/{file}", vendorFile)
	return mux
}

func (s *Server) vendorMedia(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("username")
	switch {
	case !vendorName.MatchString(name) || strings.HasPrefix(name, markMissing):
		writeJSON(w, http.StatusNotFound, vendorError{"profile_not_found"})
		return
	case strings.HasPrefix(name, markPrivate):
		writeJSON(w, http.StatusForbidden, vendorError{"profile_private"})
		return
	case strings.HasPrefix(name, markFailing):
		writeJSON(w, http.StatusInternalServerError, vendorError{"internal"})
		return
	case strings.HasPrefix(name, markSlowly) && !s.pause(slowVendor):
		cut(w)
		return
	}
	ask, refused := s.vendorAsk(r)
	if refused != "" {
		writeJSON(w, http.StatusBadRequest, vendorError{refused})
		return
	}
	writeJSON(w, http.StatusOK, ask.answer(s.baseURL(r)+"/vendor/files/"))
}

// vendorAsk is what is asked of one profile.
type vendorAsk struct {
	profile vendorProfile
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
		profile: vendorProfile{platform: r.PathValue("platform"), name: r.PathValue("username")},
		kind:    query.Get("type"), limit: vendorPage, now: now,
		cursor: vendorCursor{Type: query.Get("type"), Day: now.Unix() / secondsPerDay},
	}
	if _, known := vendorTypes[ask.profile.platform][ask.kind]; !known {
		return ask, "invalid_type"
	}
	if text := query.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 || limit > maxVendorPage {
			return ask, "invalid_limit"
		}
		ask.limit = limit
	}
	if text := query.Get("cursor"); text != "" && !ask.resume(text) {
		return ask, "invalid_cursor"
	}
	return ask, ""
}

// resume goes on where a page ended. It is false where the cursor is not one of this list's, or an old one.
func (a *vendorAsk) resume(text string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	var given vendorCursor
	if err := json.Unmarshal(raw, &given); err != nil {
		return false
	}
	today := a.cursor.Day
	a.cursor = given
	return vendorTypes[a.profile.platform][a.kind] && given.Type == a.kind && given.From > 0 &&
		given.Day <= today && given.Day > today-maxVendorWalks
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
	all := a.profile.media(a.kind, a.cursor.Day, a.now)
	from := min(a.cursor.From, len(all))
	to := min(from+a.limit, len(all))
	answer := vendorAnswer{Items: slices.Clone(all[from:to])}
	for i := range answer.Items {
		answer.Items[i].URL = files + answer.Items[i].URL
	}
	if answer.Items == nil {
		answer.Items = []vendorItem{}
	}
	if to < len(all) && vendorTypes[a.profile.platform][a.kind] {
		a.cursor.From = to
		raw, _ := json.Marshal(a.cursor) //nolint:errchkjson // two numbers and a word
		answer.Next = base64.RawURLEncoding.EncodeToString(raw)
	}
	return answer
}
