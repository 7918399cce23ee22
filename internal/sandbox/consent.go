package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// Allow opens a consent page, chooses the account with the given handle, and grants access. It returns the query
// parameters of the redirect to the app, which are a code and the state.
func Allow(ctx context.Context, consentURL, handle string) (url.Values, error) {
	address := consentURL + "&" + url.Values{"account": {handle}, "decision": {"allow"}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("requesting consent: %w", err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("requesting consent: %w", err)
	}
	defer response.Body.Close()
	redirect, err := response.Location()
	if err != nil {
		return nil, fmt.Errorf("requesting consent: HTTP %d", response.StatusCode)
	}
	return redirect.Query(), nil
}

// ExpireTokens makes a network's access tokens expire if their session has a refresh token. The refresh tokens remain
// valid.
func (s *Server) ExpireTokens(ctx context.Context, platform string) error {
	return s.base.Store.InTx(ctx, func(t store.Tx) error { return t.ExpireTokens(ctx, platform) })
}
