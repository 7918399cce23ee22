package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const pinterestName = "pinterest"

// pinterest is the part of Pinterest's API, version 5, that publishes: the consent and its tokens, boards, videos,
// pins.
type pinterest struct {
	*xREST

	files *graphAPI // fetches images
}

func newPinterest(s *Server) *pinterest {
	n := &xREST{
		oauth:   &oauth{Server: s, platform: pinterestName, title: "Pinterest"},
		codeFor: codeLife, accessFor: 30 * 24 * time.Hour, refreshFor: 60 * 24 * time.Hour,
		says: xRefusals{
			unread:  pinterestInvalid("Invalid request"),
			nowhere: &xError{status: http.StatusNotFound, code: 50, message: "Not found"},
			noToken: &xError{status: http.StatusUnauthorized, code: 2, message: "Authentication failed."},
			grantDead: &xError{
				status: http.StatusBadRequest, code: 283,
				message: "The code or the refresh token is invalid or has expired",
			},
			rejected: pinterestInvalid("This content cannot be pinned (asked for by a sandbox marker)"),
			rate: &xError{
				status: http.StatusTooManyRequests, code: 8,
				message: "You have exceeded your rate limit. Try again later.",
			},
			broken: &xError{
				status: http.StatusInternalServerError, code: 12, message: "Something went wrong on our end.",
			},
		},
	}
	api := &pinterest{n, newGraphAPI(s, pinterestName, "", "", "")}
	n.write = api.tell
	return api
}

func (n *pinterest) name() string  { return pinterestName }
func (n *pinterest) title() string { return n.oauth.title }

func (n *pinterest) settle(ctx context.Context) error {
	return n.people(ctx, func(handle string) string { return graphID("5", "pinterest account "+handle) })
}

// handler answers the API, the consent page, the store that takes videos, and at the addresses of pins the sandbox's
// page.
func (n *pinterest) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/", n.authorize)
	mux.HandleFunc("POST /oauth/", n.authorize)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /v5/oauth/token":        n.tokens,
		"GET /v5/user_account":        n.me,
		"GET /v5/boards":              n.listBoards,
		"GET /v5/boards/{board}/pins": n.listPins,
		"GET /v5/pins/{id}/analytics": n.analytics,
		"GET /v5/pins/analytics":      n.severalAnalytics,
		"GET /v5/media/{id}":          n.videoStatus,
		"GET /media/{account}/{cid}":  n.mediaFile,
		"/":                           n.nowhere,
	} {
		mux.HandleFunc(pattern, n.answer(http.StatusOK, do))
	}
	mux.HandleFunc("POST /v5/media", n.answer(http.StatusCreated, n.registerVideo))
	mux.HandleFunc("POST /v5/pins", n.answer(http.StatusCreated, n.create))
	mux.HandleFunc("POST /upload/{id}", n.stream(http.StatusNoContent, n.takeVideo))
	mux.HandleFunc("GET /web/pin/{id}/{$}", n.toPage)
	return mux
}

func pinterestInvalid(message string) *xError {
	return &xError{status: http.StatusBadRequest, code: 1, message: message}
}

// tell writes the headers about rates, and a refusal.
func (n *pinterest) tell(w http.ResponseWriter, refused *xError) {
	header := w.Header()
	header.Set("x-ratelimit-limit", "100, 100;w=1")
	header.Set("x-ratelimit-remaining", "99")
	header.Set("x-ratelimit-reset", "1")
	if refused == n.says.rate {
		header.Set("x-ratelimit-remaining", "0")
		header.Set("x-ratelimit-reset", "2")
	}
	if refused != nil {
		writeJSON(w, refused.status, map[string]any{"code": refused.code, "message": refused.message})
	}
}

// tokens is the token endpoint, where a client shows its secret by Basic authentication.
func (n *pinterest) tokens(r *http.Request) (any, error) {
	if _, secret, basic := r.BasicAuth(); !basic || secret == "" {
		return nil, &xError{status: http.StatusUnauthorized, code: 2, message: "The client's authentication failed."}
	}
	given, err := n.trade(r)
	answer := map[string]any{
		"token_type": "bearer", "expires_in": int64(n.accessFor / time.Second), "access_token": given.access,
		"scope":         strings.Join(given.scopes, " "),
		"response_type": r.Form.Get("grant_type"),
	}
	if r.Form.Get("continuous_refresh") == "true" {
		answer["refresh_token"] = given.refresh
		answer["refresh_token_expires_in"] = int64(n.refreshFor / time.Second)
		answer["refresh_token_expires_at"] = n.now().Add(n.refreshFor).Unix()
	}
	return answer, err
}

// byCaller does what is asked of the API by an account, in one transaction.
func (n *pinterest) byCaller(r *http.Request, do func(tx, account, oauthToken) error) error {
	return n.store.in(r.Context(), func(t tx) error {
		a, token, err := n.caller(r, t)
		if err != nil {
			return err
		}
		return do(t, a, token)
	})
}

func (n *pinterest) me(r *http.Request) (any, error) {
	var told map[string]any
	err := n.byCaller(r, func(_ tx, a account, _ oauthToken) error {
		told = map[string]any{
			"id": a.id, "username": a.handle, "account_type": "BUSINESS", "business_name": a.displayName,
			"follower_count": followers(pinterestName, a.id, n.now()),
		}
		return nil
	})
	return told, err
}

// pinterestBoards are what everybody has boards of.
var pinterestBoards = []string{"Ideas", "Recipes", "Places"}

func pinterestBoard(a account, name string) string {
	return graphID("8", "pinterest board "+a.handle+" "+name)
}

// hasBoard tells whether the board is the account's.
func (n *pinterest) hasBoard(a account, id string) bool {
	for _, name := range pinterestBoards {
		if id == pinterestBoard(a, name) {
			return true
		}
	}
	return false
}

func (n *pinterest) listBoards(r *http.Request) (any, error) {
	var page any
	err := n.byCaller(r, func(_ tx, a account, _ oauthToken) error {
		all := []map[string]any{}
		for _, name := range pinterestBoards {
			all = append(all, map[string]any{
				"id": pinterestBoard(a, name), "name": name, "privacy": "PUBLIC",
				"owner": map[string]string{"username": a.handle},
			})
		}
		var err error
		page, err = n.page(r, all)
		return err
	})
	return page, err
}

// page is the part of all that a request asks for, and the bookmark of what follows.
func (n *pinterest) page(r *http.Request, all []map[string]any) (any, error) {
	size, from := 25, 0
	var err error
	if text := r.Form.Get("page_size"); text != "" {
		size, err = strconv.Atoi(text)
	}
	if text := r.Form.Get("bookmark"); text != "" && err == nil {
		from, err = strconv.Atoi(text)
	}
	if err != nil || size < 1 || size > 250 || from < 0 || from > len(all) {
		return nil, n.says.unread
	}
	told := map[string]any{"items": all[from:min(from+size, len(all))], "bookmark": nil}
	if from+size < len(all) {
		told["bookmark"] = strconv.Itoa(from + size)
	}
	return told, nil
}

// pinterestPin is a pin as a client sends it; members of it that the sandbox makes nothing of are let pass, as the
// network lets unknown ones pass.
type pinterestPin struct {
	Board       string          `json:"board_id"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Link        string          `json:"link"`
	Alt         string          `json:"alt_text"`
	Source      pinterestSource `json:"media_source"`
}

type pinterestSource struct {
	Type  string `json:"source_type"`
	URL   string `json:"url"`
	Items []struct {
		URL string `json:"url"`
	} `json:"items"`

	Video     string `json:"media_id"`
	KeyFrame  *int   `json:"cover_image_key_frame_time"`
	CoverURL  string `json:"cover_image_url"`
	CoverData string `json:"cover_image_data"`
}

func readPinterestPin(r *http.Request) (pinterestPin, error) {
	var asked pinterestPin
	err := json.NewDecoder(r.Body).Decode(&asked)
	switch {
	case err != nil:
		return asked, pinterestInvalid("The body cannot be read")
	case len([]rune(asked.Title)) > 100, len([]rune(asked.Description)) > 800, len([]rune(asked.Link)) > 2048,
		len([]rune(asked.Alt)) > 500:
		return asked, pinterestInvalid("A text of the pin is too long")
	}
	return asked, nil
}
