package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const (
	callbackPath  = "/callback"
	signInTimeout = 5 * time.Minute // maximum time for the person to sign in with the browser
	maxResponse   = 64 << 10        // maximum size in bytes of the metadata or of a registration response
)

// Login signs a person in with the browser. It uses the authorization code flow with PKCE and a redirect to this
// machine (RFC 8252).
type Login struct {
	URL   string // URL of the service, without a trailing slash
	Name  string // name of this program, shown to the person who approves the sign-in
	HTTP  *http.Client
	Open  func(address string) error // opens the browser
	Scope string                     // capabilities to request; empty requests all
}

// metadata contains the members of the authorization server metadata (RFC 8414) that Login uses.
type metadata struct {
	Issuer                string `json:"issuer"`
	AuthorizationEndpoint string `json:"authorization_endpoint"`
	TokenEndpoint         string `json:"token_endpoint"`
	RegistrationEndpoint  string `json:"registration_endpoint"`
	RevocationEndpoint    string `json:"revocation_endpoint"`
}

// Run signs a person in. It returns the tokens, which are valid for the REST API and the tools.
func (l Login) Run(ctx context.Context) (OAuth, error) {
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	endpoints, err := l.discover(ctx)
	if err != nil {
		return OAuth{}, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return OAuth{}, fmt.Errorf("listening for the browser: %w", err)
	}
	defer listener.Close()
	redirectURI := "http://" + listener.Addr().String() + callbackPath
	client, err := l.register(ctx, endpoints, redirectURI)
	if err != nil {
		return OAuth{}, err
	}
	out := OAuth{ClientID: client, TokenURL: endpoints.TokenEndpoint, RevocationURL: endpoints.RevocationEndpoint}
	config := out.config()
	config.RedirectURL, config.Scopes = redirectURI, strings.Fields(l.Scope)
	config.Endpoint.AuthURL = endpoints.AuthorizationEndpoint + "?" + url.Values{"resource": {l.URL + "/api/v1",
		l.URL + "/mcp"}}.Encode()
	verifier, state := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	code, err := l.waitForCode(ctx, listener, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)),
		endpoints.Issuer, state)
	if err != nil {
		return OAuth{}, err
	}
	exchangeCtx, cancel := exchangeContext(l.HTTP)
	defer cancel()
	token, err := config.Exchange(exchangeCtx, code, oauth2.VerifierOption(verifier)) //nolint:contextcheck // see exchangeContext
	if err != nil {
		return OAuth{}, tokenError(err)
	}
	return *out.withToken(token), nil
}

// discover returns the URLs of the service's OAuth endpoints. All of them must begin with the service's URL, because
// the browser and the tokens are sent to them (RFC 8414, section 3.3).
func (l Login) discover(ctx context.Context) (metadata, error) {
	var m metadata
	if err := l.call(ctx, http.MethodGet, l.URL+"/.well-known/oauth-authorization-server", nil, &m); err != nil {
		return m, err
	}
	if m.Issuer != l.URL {
		return m, fmt.Errorf("the service's own URL is %s: repeat the command with --url %s", m.Issuer, m.Issuer)
	}
	for _, address := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint, m.RevocationEndpoint} {
		if !strings.HasPrefix(address, l.URL+"/") {
			return m, errors.New("the service's OAuth metadata contains a URL on another host: check --url")
		}
	}
	return m, nil
}

// register registers this program as an OAuth client (RFC 7591) and returns its ID.
func (l Login) register(ctx context.Context, m metadata, redirectURI string) (string, error) {
	var response struct {
		ID string `json:"client_id"`
	}
	registration, err := json.Marshal(map[string]any{
		"client_name": l.Name, "redirect_uris": []string{redirectURI}, "grant_types": []string{"authorization_code",
			"refresh_token"},
	})
	if err != nil {
		return "", fmt.Errorf("encoding the registration: %w", err)
	}
	err = l.call(ctx, http.MethodPost, m.RegistrationEndpoint, strings.NewReader(string(registration)), &response)
	return response.ID, err
}

func (l Login) call(ctx context.Context, method, address string, body io.Reader, out any) error {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return fmt.Errorf("creating a request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := l.HTTP.Do(r)
	if err != nil {
		return fmt.Errorf("the service cannot be reached: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s returned status %d: check the URL", address, response.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxResponse)).Decode(out); err != nil {
		return fmt.Errorf("%s is not a pressroom URL: %w", address, err)
	}
	return nil
}

// waitForCode opens the browser and returns the authorization code from the redirect.
func (l Login) waitForCode(ctx context.Context, listener net.Listener, address, issuer, state string) (string, error) {
	callbacks := make(chan url.Values, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		params := r.URL.Query()
		// Reject a redirect that belongs to another sign-in or comes from another server.
		if params.Get("state") != state || params.Get("iss") != issuer {
			http.Error(w, "This is not the current sign-in.", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, signedInPage) // the person may have closed the browser
		select {
		case callbacks <- params:
		default:
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Shutdown(context.WithoutCancel(ctx)) }() // waits until the page is sent
	if err := l.Open(address); err != nil {
		return "", err
	}
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("the sign-in was not approved in the browser in time: %w", ctx.Err())
	case params := <-callbacks:
		if code := params.Get("error"); code != "" {
			return "", fmt.Errorf("the sign-in was rejected (%s)", code)
		}
		return params.Get("code"), nil
	}
}

const signedInPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>pressroom</title>
<body style="font-family:system-ui;margin:3rem;max-width:40rem">
<h1>Back to the terminal</h1>
<p>The command line has received your decision. You can close this page.</p>
`
