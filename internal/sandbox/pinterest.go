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

// pinterest is the part of Pinterest's API, version 5, that publishes: the consent and its tokens, boards, videos and
// pins.
type pinterest struct {
	*xREST

	client *http.Client // for fetching images
}

func newPinterest(s *shared) *pinterest {
	n := &xREST{
		oauth:   &oauth{shared: s, platform: pinterestName, displayName: "Pinterest"},
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
	api := &pinterest{n, &http.Client{Timeout: fetchTimeout}}
	n.write = api.tell
	return api
}

func (n *pinterest) settle(ctx context.Context) error {
	return n.people(ctx, func(handle string) string { return stableID("5", "pinterest account "+handle) })
}

// handler serves the API, the consent page, the upload of videos, and redirects from pins to the sandbox's page.
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
		"GET /media/{account}/{cid}":  n.mediaFile(pinterestName, n.says.nowhere),
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

// tell writes the rate headers, and a refusal.
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

// tokens is the token endpoint, where a client authenticates by Basic authentication.
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

// byCaller calls do in a transaction with the account of the request's token.
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
	var answer map[string]any
	err := n.byCaller(r, func(_ tx, a account, _ oauthToken) error {
		answer = map[string]any{
			"id": a.id, "username": a.handle, "account_type": "BUSINESS", "business_name": a.displayName,
			"follower_count": followers(pinterestName, a.id, n.now()),
		}
		return nil
	})
	return answer, err
}

// pinterestBoards are the names of everybody's boards.
var pinterestBoards = []string{"Ideas", "Recipes", "Places"}

func pinterestBoard(a account, name string) string {
	return stableID("8", "pinterest board "+a.handle+" "+name)
}

// hasBoard reports whether the board belongs to the account.
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

// page returns the requested page of all, and the bookmark of the next one.
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
	answer := map[string]any{"items": all[from:min(from+size, len(all))], "bookmark": nil}
	if from+size < len(all) {
		answer["bookmark"] = strconv.Itoa(from + size)
	}
	return answer, nil
}

// pinterestPin is a pin as a client sends it. Like the network it ignores unknown members.
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
	var in pinterestPin
	err := json.NewDecoder(r.Body).Decode(&in)
	switch {
	case err != nil:
		return in, pinterestInvalid("The body cannot be read")
	case len([]rune(in.Title)) > 100, len([]rune(in.Description)) > 800, len([]rune(in.Link)) > 2048,
		len([]rune(in.Alt)) > 500:
		return in, pinterestInvalid("A text of the pin is too long")
	}
	return in, nil
}
