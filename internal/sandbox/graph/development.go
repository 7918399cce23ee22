package graph

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// unreviewedClient is part of the ID of an app that has not passed App Review and is therefore in development mode. The
// suffix strictClient may follow it.
const unreviewedClient = "-unreviewed"

// roleHolders lists the people who have an accepted role in every app in development mode.
var roleHolders = []string{"harbour.coffee", "mira.keller"}

func inDevelopment(client string) bool { return strings.Contains(client, unreviewedClient) }

// RequireRole makes the consent page show an error page if the app is in development mode and the person has no role in
// the app.
func (api *API) RequireRole(page http.HandlerFunc) {
	api.Reject = func(_ *http.Request, client string, a store.Account) http.HandlerFunc {
		if !inDevelopment(client) || slices.Contains(roleHolders, a.Handle) {
			return nil
		}
		return page
	}
}

// Audience returns the audience of posts that an app publishes.
//
// Source: https://developers.facebook.com/documentation/development/build-and-test/app-modes (May 5, 2025).
func Audience(client string) store.Audience {
	if inDevelopment(client) {
		return store.AudienceRoles
	}
	return store.AudiencePublic
}

// RequireReview returns an error if App Review has not approved the token's app. feature is the name of the feature
// that the call requires.
func RequireReview(token store.Token, feature string) error {
	if !inDevelopment(token.Client) {
		return nil
	}
	return &Error{Status: http.StatusBadRequest, Code: 10, Message: fmt.Sprintf(
		"(#10) To use '%s', your use of this endpoint must be reviewed and approved by Facebook.", feature)}
}

// ErrorPage returns a handler that responds with body as a JSON error.
func ErrorPage(body map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { base.WriteJSON(w, http.StatusBadRequest, body) }
}

var inactivePage = template.Must(template.New("inactive").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{{.}} (sandbox): app not active</title><link rel="stylesheet" href="/style.css"></head>
<body><main><h1>App not active</h1>
<p>This app is not accessible right now and the app developer is aware of the issue. You will be able to log in when the app is
reactivated.</p></main></body>
</html>
`))

// ServeInactive serves the page that Facebook Login shows to people without a role.
func (api *API) ServeInactive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusBadRequest)
	_ = inactivePage.Execute(w, api.DisplayName) // the client may have disconnected
}
