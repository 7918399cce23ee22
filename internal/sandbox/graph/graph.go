// Package graph simulates the parts of Meta's Graph API that Instagram, Facebook and Threads share.
package graph

import (
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/oauth"
)

// API implements the functions that Meta's networks share: responses and errors, the exchange of short-lived tokens for
// long-lived tokens, fetching media, and publishing through containers. It accepts any client ID and secret.
type API struct {
	*oauth.Provider

	client      *http.Client // for fetching media
	grantPrefix string       // prefix of the grant types that exchange tokens
	usageType   string       // value of type in X-Business-Use-Case-Usage

	PublishScopes []string // scopes for publishing; a token needs one of them
}

// New returns the API of a platform. grantPrefix is the prefix of the platform's grant types. usageType is the value of
// type in the X-Business-Use-Case-Usage header.
func New(s *base.Server, platform, displayName, grantPrefix, usageType string) *API {
	return &API{
		Provider: &oauth.Provider{Server: s, Platform: platform, DisplayName: displayName},
		client:   &http.Client{Timeout: base.FetchTimeout}, grantPrefix: grantPrefix, usageType: usageType,
	}
}

// TimeFormat is the layout of times in the Graph API.
const TimeFormat = "2006-01-02T15:04:05-0700"

// Error is an error of Meta's Graph API.
type Error struct {
	Status, Code, Subcode int
	Message               string
	transient             bool
}

func (e *Error) Error() string { return e.Message }

// Errors of the Graph API.
var (
	ErrSessionExpired = &Error{
		Status: http.StatusBadRequest, Code: 190, Subcode: 463,
		Message: "Error validating access token: Session has expired",
	}
	ErrNoObject = &Error{
		Status: http.StatusBadRequest, Code: 100, Subcode: 33,
		Message: "Unsupported request. Object with this ID does not exist",
	}
	ErrRateLimited = &Error{Status: http.StatusBadRequest, Code: 4, Message: "Application request limit reached"}
	ErrInternal    = &Error{
		Status: http.StatusInternalServerError, Code: 2, transient: true,
		Message: "An unexpected error has occurred. Please retry your request later.",
	}
)

// InvalidParameter returns the error for an invalid request.
func InvalidParameter(message string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: 100, Message: message}
}

// HandlerFor returns an HTTP handler for a call.
func (api *API) HandlerFor(call base.Call) http.HandlerFunc {
	return base.Handle(InvalidParameter("Invalid request"), call, api.Write)
}

// Write writes the result of a call.
func (api *API) Write(w http.ResponseWriter, r *http.Request, result any, err error) {
	writeError := func(e *Error) {
		api.setUsage(w.Header(), e)
		base.WriteJSON(w, e.Status, map[string]any{"error": map[string]any{
			"message": e.Message, "type": "OAuthException", "code": e.Code, "error_subcode": e.Subcode,
			"is_transient": e.transient, "fbtrace_id": base.NewID(),
		}})
	}
	if !base.Respond(w, r, api.Platform, result, err, ErrInternal, writeError) {
		api.setUsage(w.Header(), nil)
		base.WriteJSON(w, http.StatusOK, result)
	}
}

// setUsage sets the usage headers. If the request was rate limited, these headers ask the client to wait for one
// minute, which is their smallest unit. Retry-After allows a retry after two seconds.
func (api *API) setUsage(header http.Header, err *Error) {
	percent, minutes := "1", "0"
	if err == ErrRateLimited {
		percent, minutes = "100", "1"
		header.Set("Retry-After", "2")
	}
	usage := `{"call_count":` + percent + `,"total_cputime":1,"total_time":1`
	header.Set("X-App-Usage", usage+"}")
	header.Set("X-Business-Use-Case-Usage",
		`{"`+api.Platform+`":[`+usage+`,"type":"`+api.usageType+`","estimated_time_to_regain_access":`+minutes+`}]}`)
}

// NotFound returns the error for an unknown path.
func (api *API) NotFound(*http.Request) (any, error) {
	return nil, &Error{Status: http.StatusBadRequest, Code: 2500, Message: "Unknown path components"}
}

// PickFields returns the requested fields and the ID. It ignores unknown fields.
func PickFields(r *http.Request, values map[string]any) map[string]any {
	out := map[string]any{"id": values["id"]}
	for field := range strings.SplitSeq(r.Form.Get("fields"), ",") {
		field, _, _ = strings.Cut(field, ".") // ignore modifiers
		if value, ok := values[field]; ok {
			out[field] = value
		}
	}
	return out
}

// ShortLifetime is the lifetime of a short-lived token.
const ShortLifetime = time.Hour

const (
	longLifetime  = 60 * 24 * time.Hour
	minRefreshAge = 24 * time.Hour // minimum age of a token before it can be refreshed
)
