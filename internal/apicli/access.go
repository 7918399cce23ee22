package apicli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apicli/profile"
)

// access is the address of a service and the credential for it.
type access struct {
	url, key string
	http     *http.Client
}

// profileKey stands for the credential of a profile, which can change while a command runs.
const profileKey = "credential-of-the-profile"

// access returns the address and the credential of a command. The flags --profile and --key-file precede the environment,
// and a key precedes a profile.
func (t Terminal) access(ctx context.Context, s settings) (access, error) {
	if s.profile != "" && s.keyFile != "" {
		return access{}, usagef("--profile and --key-file exclude each other")
	}
	name, err := t.selectedProfile(s)
	if err != nil {
		return access{}, err
	}
	if name == "" {
		key, err := t.key(s.keyFile)
		return access{cmp.Or(s.url, t.Env(urlVariable), defaultURL), key, &http.Client{}}, err
	}
	p, err := t.Profiles.Get(name)
	if errors.Is(err, profile.ErrNotFound) {
		return access{}, usagef("no profile %s: sign in with pressroom login --profile %s --url URL", name, name)
	}
	if err != nil {
		return access{}, err
	}
	if other := cmp.Or(s.url, t.Env(urlVariable)); other != "" && baseURL(other) != p.URL {
		return access{}, usagef("the profile %s is for %s: omit --url and %s, or select another profile", name, p.URL, urlVariable)
	}
	return t.profileAccess(ctx, p)
}

// profileAccess returns the access of a profile with a valid credential.
func (t Terminal) profileAccess(ctx context.Context, p profile.Profile) (access, error) {
	source := profile.NewSource(t.Profiles, p, &http.Client{Timeout: time.Minute}, time.Now)
	if _, err := source.Credential(ctx); errors.Is(err, profile.ErrSignedOut) {
		return access{}, fmt.Errorf("%w: run pressroom login --profile %s", err, p.Name)
	} else if err != nil {
		return access{}, err
	}
	return access{p.URL, profileKey, &http.Client{Transport: profile.Transport{
		Source: source, Placeholder: profileKey, Base: http.DefaultTransport,
	}}}, nil
}

// selectedProfile returns the name of the profile to use, or "" for an API key.
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

// baseURL returns the address of a service without the path of the API.
func baseURL(address string) string {
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(address, "/"), "/api/v1"), "/")
}
