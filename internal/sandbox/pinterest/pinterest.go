// Package pinterest simulates Pinterest.
package pinterest

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/rest"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Name is the network's name in URLs.
const Name = "pinterest"

// Network is the part of Pinterest's API, version 5, that pressroom uses: OAuth consent and tokens, boards, videos and
// pins.
type Network struct {
	*rest.API

	client *http.Client // for fetching images
}

// New returns the network of the sandbox s.
func New(s *base.Server) *Network {
	n := &rest.API{
		Provider:     &oauth.Provider{Server: s, Platform: Name, DisplayName: "Pinterest"},
		CodeLifetime: oauth.CodeLifetime, AccessLifetime: 30 * 24 * time.Hour, RefreshLifetime: 60 * 24 * time.Hour,
		Errors: rest.Errors{
			Unreadable:   invalidRequest("Invalid request"),
			NotFound:     &rest.Error{Status: http.StatusNotFound, Code: 50, Message: "Not found"},
			Unauthorized: &rest.Error{Status: http.StatusUnauthorized, Code: 2, Message: "Authentication failed."},
			InvalidGrant: &rest.Error{
				Status: http.StatusBadRequest, Code: 283,
				Message: "The code or the refresh token is invalid or has expired",
			},
			Rejected: invalidRequest("This content cannot be pinned (requested by a sandbox marker)"),
			RateLimited: &rest.Error{
				Status: http.StatusTooManyRequests, Code: 8,
				Message: "You have exceeded your rate limit. Try again later.",
			},
			Internal: &rest.Error{
				Status: http.StatusInternalServerError, Code: 12, Message: "Something went wrong on our end.",
			},
		},
	}
	api := &Network{n, &http.Client{Timeout: base.FetchTimeout}}
	n.Write = api.write
	return api
}

// Init creates the initial accounts.
func (n *Network) Init(ctx context.Context) error {
	return n.AddPeople(ctx, func(handle string) string { return base.StableID("5", "pinterest account "+handle) })
}

// Handler returns the handler of the API, the consent page, video uploads, and the redirects from pins to the sandbox's
// page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/", n.Authorize)
	mux.HandleFunc("POST /oauth/", n.Authorize)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /v5/oauth/token":            n.grantTokens,
		"GET /v5/user_account":            n.me,
		"GET /v5/boards":                  n.listBoards,
		"GET /v5/boards/{board}/pins":     n.listPins,
		"GET /v5/boards/{board}/sections": n.listSections,
		"GET /v5/pins/{id}/analytics":     n.analytics,
		"GET /v5/pins/analytics":          n.multiAnalytics,
		"GET /v5/media/{id}":              n.videoStatus,
		"GET /media/{account}/{cid}":      n.MediaFile(Name, n.Errors.NotFound),
		"/":                               n.NotFound,
	} {
		mux.HandleFunc(pattern, n.Handle(http.StatusOK, do))
	}
	mux.HandleFunc("POST /v5/media", n.Handle(http.StatusCreated, n.registerVideo))
	mux.HandleFunc("POST /v5/pins", n.Handle(http.StatusCreated, n.createPin))
	mux.HandleFunc("POST /upload/{id}", n.HandleStream(http.StatusNoContent, n.receiveVideo))
	mux.HandleFunc("GET /web/pin/{id}/{$}", n.RedirectToPage)
	return mux
}

func invalidRequest(message string) *rest.Error {
	return &rest.Error{Status: http.StatusBadRequest, Code: 1, Message: message}
}

// write writes the rate limit headers, and the error unless it is nil.
func (n *Network) write(w http.ResponseWriter, restErr *rest.Error) {
	header := w.Header()
	header.Set("x-ratelimit-limit", "100, 100;w=1")
	header.Set("x-ratelimit-remaining", "99")
	header.Set("x-ratelimit-reset", "1")
	if restErr == n.Errors.RateLimited {
		header.Set("x-ratelimit-remaining", "0")
		header.Set("x-ratelimit-reset", "2")
	}
	if restErr != nil {
		base.WriteJSON(w, restErr.Status, map[string]any{"code": restErr.Code, "message": restErr.Message})
	}
}

// grantTokens serves the token endpoint. Clients use Basic authentication.
func (n *Network) grantTokens(r *http.Request) (any, error) {
	if _, secret, hasBasicAuth := r.BasicAuth(); !hasBasicAuth || secret == "" || base.IsWrongSecret(secret) {
		return nil, &rest.Error{
			Status: http.StatusUnauthorized, Code: 2, Message: "The client's authentication failed.",
		}
	}
	tokens, err := n.GrantTokens(r)
	response := map[string]any{
		"token_type": "bearer", "expires_in": int64(n.AccessLifetime / time.Second), "access_token": tokens.Access,
		"scope":         strings.Join(tokens.Scopes, " "),
		"response_type": r.Form.Get("grant_type"),
	}
	if r.Form.Get("continuous_refresh") == "true" {
		response["refresh_token"] = tokens.Refresh
		response["refresh_token_expires_in"] = int64(n.RefreshLifetime / time.Second)
		response["refresh_token_expires_at"] = n.Now().Add(n.RefreshLifetime).Unix()
	}
	return response, err
}

func (n *Network) me(r *http.Request) (any, error) {
	var response map[string]any
	err := n.AsCaller(r, func(_ store.Tx, a store.Account, _ store.Token) error {
		response = map[string]any{
			"id": a.ID, "username": a.Handle, "account_type": "BUSINESS", "business_name": a.DisplayName,
			"follower_count": insights.Followers(Name, a.ID, n.Now()), "profile_image": n.PictureURL(r, a.DisplayName),
		}
		return nil
	})
	return response, err
}

// boards lists the names of the boards that every account has.
var boards = []string{"Ideas", "Recipes", "Places"}

func boardID(a store.Account, name string) string {
	return base.StableID("8", "pinterest board "+a.Handle+" "+name)
}

// hasBoard reports whether the board belongs to the account.
func (n *Network) hasBoard(a store.Account, id string) bool {
	for _, name := range boards {
		if id == boardID(a, name) {
			return true
		}
	}
	return false
}

func (n *Network) listBoards(r *http.Request) (any, error) {
	var page any
	err := n.AsCaller(r, func(_ store.Tx, a store.Account, _ store.Token) error {
		views := []map[string]any{}
		for _, name := range boards {
			views = append(views, map[string]any{
				"id": boardID(a, name), "name": name, "privacy": "PUBLIC",
				"owner": map[string]string{"username": a.Handle},
			})
		}
		var err error
		page, err = n.page(r, views)
		return err
	})
	return page, err
}

// page returns the requested page of items, with the bookmark for the next page.
func (n *Network) page(r *http.Request, items []map[string]any) (any, error) {
	size, offset := 25, 0
	var err error
	if text := r.Form.Get("page_size"); text != "" {
		size, err = strconv.Atoi(text)
	}
	if text := r.Form.Get("bookmark"); text != "" && err == nil {
		offset, err = strconv.Atoi(text)
	}
	if err != nil || size < 1 || size > 250 || offset < 0 || offset > len(items) {
		return nil, n.Errors.Unreadable
	}
	response := map[string]any{"items": items[offset:min(offset+size, len(items))], "bookmark": nil}
	if offset+size < len(items) {
		response["bookmark"] = strconv.Itoa(offset + size)
	}
	return response, nil
}

// pinRequest is a pin in the form in which a client sends it. Like Pinterest, the sandbox ignores unknown members.
type pinRequest struct {
	Board       string      `json:"board_id"`
	Section     string      `json:"board_section_id"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Link        string      `json:"link"`
	Alt         string      `json:"alt_text"`
	Source      mediaSource `json:"media_source"`
}

type mediaSource struct {
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

func parsePin(r *http.Request) (pinRequest, error) {
	var in pinRequest
	err := json.NewDecoder(r.Body).Decode(&in)
	switch {
	case err != nil:
		return in, invalidRequest("The body is not valid JSON")
	case len([]rune(in.Title)) > 100, len([]rune(in.Description)) > 800, len([]rune(in.Link)) > 2048,
		len([]rune(in.Alt)) > 500:
		return in, invalidRequest("A text of the pin is too long")
	}
	return in, nil
}
