package apicli

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/client"
	"pressroom.example/pressroom/internal/apicli/profile"
)

// connection is the URL of a service with the credential for it: an API key, or a profile's source of tokens.
type connection struct {
	url, key string
	source   *profile.Source
}

// connection returns the connection that a command uses. The flags --profile and --key-file take precedence over
// environment variables. Among the variables, an API key takes precedence over a profile.
func (t Terminal) connection(s settings) (connection, error) {
	if s.profile != "" && s.keyFile != "" {
		return connection{}, usagef("--profile and --key-file cannot be used together")
	}
	name, err := t.selectedProfile(s)
	if err != nil {
		return connection{}, err
	}
	if name == "" {
		key, err := t.readKeyFile(s.keyFile)
		return connection{url: cmp.Or(s.url, t.Env(urlVariable), defaultURL), key: key}, err
	}
	p, err := t.Profiles.Get(name)
	if errors.Is(err, profile.ErrNotFound) {
		return connection{}, usagef("no profile %s: sign in with pressroom login --profile %s --url URL", name, name)
	}
	if err != nil {
		return connection{}, err
	}
	if givenURL := cmp.Or(s.url, t.Env(urlVariable)); givenURL != "" && baseURL(givenURL) != p.URL {
		return connection{}, usagef("the profile %s is for %s: omit --url and %s, or select another profile", name, p.URL, urlVariable)
	}
	return connection{url: p.URL, source: profile.NewSource(t.Profiles, p, &http.Client{Timeout: time.Minute}, time.Now)}, nil
}

// credential returns the API key, or the current credential of the profile.
func (c connection) credential(ctx context.Context) (string, error) {
	if c.source == nil {
		return strings.TrimSpace(c.key), nil
	}
	return c.source.Credential(ctx)
}

func (c connection) client(s settings) (*client.Client, error) {
	options := []client.Option{client.WithUserAgent("pressroom-call"), client.WithAttempts(s.attempts)}
	if c.source != nil {
		options = append(options, client.WithCredential(c.source.Credential))
	}
	if s.plainHTTP {
		options = append(options, client.WithPlainHTTP())
	}
	out, err := client.New(c.url, c.key, options...)
	if err != nil {
		return nil, usagef("%s", strings.ReplaceAll(err.Error(), "WithPlainHTTP", "--plain-http"))
	}
	return out, nil
}

// selectedProfile returns the name of the profile to use, or "" if the command uses an API key.
func (t Terminal) selectedProfile(s settings) (string, error) {
	switch {
	case s.profile != "":
		return s.profile, nil
	case s.keyFile != "" || t.Env(keyVariable) != "" || t.Env(fileVariable) != "":
		return "", nil
	case t.Env(profileVariable) != "":
		return t.Env(profileVariable), nil
	}
	_, err := t.Profiles.Get(profile.Default)
	if errors.Is(err, profile.ErrNotFound) {
		return "", nil
	}
	return profile.Default, err
}

// baseURL returns a service's URL without the path of the API.
func baseURL(rawURL string) string {
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(rawURL, "/"), "/api/v1"), "/")
}
