package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Allow does what a person does on a consent page: it allows what is asked for, as one of the network's people. It
// gives what the browser brings back to the app, a code and the state.
func Allow(ctx context.Context, consent, person string) (url.Values, error) {
	address := consent + "&" + url.Values{"account": {person}, "decision": {"allow"}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for consent: %w", err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking for consent: %w", err)
	}
	defer response.Body.Close()
	back, err := response.Location()
	if err != nil {
		return nil, fmt.Errorf("asking for consent: HTTP %d", response.StatusCode)
	}
	return back.Query(), nil
}

// ExpireTokens ends all access tokens of a network that clients were given by OAuth and can refresh. The grants behind
// them stay.
func (s *Server) ExpireTokens(ctx context.Context, platform string) error {
	return s.store.in(ctx, func(t tx) error {
		_, err := t.ExecContext(ctx,
			`update oauth_tokens as a set expires_at = 0 where kind = ? and platform = ? and exists (
			select 1 from oauth_tokens r where r.platform = a.platform and r.session = a.session and r.kind = 'refresh')`, kindAccess, platform)
		if err != nil {
			return fmt.Errorf("ending access tokens: %w", err)
		}
		return nil
	})
}
