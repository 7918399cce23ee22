package apicli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"pressroom.example/pressroom/client"
	"pressroom.example/pressroom/internal/apicli/profile"
)

// LoginOptions selects the service to sign in to and the profile that stores the sign-in.
type LoginOptions struct {
	Profile, URL string
	WithKey      bool // read an API key from standard input instead of signing in
	Scope        string
	PlainHTTP    bool
	Open         func(address string) error // opens the browser; nil if there is none
}

// Login signs in to a service and stores the credential in a profile. If the profile already exists, Login replaces it
// and ends the sign-in that it contained.
func Login(ctx context.Context, t Terminal, o LoginOptions) error {
	o.Profile = cmp.Or(o.Profile, t.Env(profileVariable), profile.Default)
	p := profile.Profile{Name: o.Profile}
	// Update also checks the folder.
	err := t.Profiles.Update(ctx, p.Name, func(stored *profile.Profile) (*profile.Profile, error) {
		if stored != nil {
			p.URL = stored.URL
		}
		return stored, nil
	})
	if err != nil {
		return err
	}
	p.URL = baseURL(cmp.Or(o.URL, p.URL, t.Env(urlVariable), defaultURL))
	s := settings{plainHTTP: o.PlainHTTP, attempts: 1}
	if _, err := (connection{url: p.URL, key: "any"}).client(s); err != nil { // checks the URL
		return err
	}
	if o.WithKey {
		p.Key, err = t.readKey()
	} else {
		p.OAuth, err = t.signIn(ctx, p.URL, o)
	}
	if err != nil {
		return err
	}
	var previous *profile.Profile
	if err = t.describe(ctx, &p, s); err == nil {
		previous, err = t.replaceProfile(ctx, &p)
	}
	if err != nil {
		t.endSignIn(ctx, &p)
		return err
	}
	fmt.Fprintf(t.Out, "Signed in to %s as %s in the team %s. Profile: %s\n", p.URL, p.Person, p.Team, p.Name)
	t.endSignIn(ctx, previous)
	return nil
}

// replaceProfile stores a profile and returns the previous profile with that name, or nil if there was none.
func (t Terminal) replaceProfile(ctx context.Context, p *profile.Profile) (*profile.Profile, error) {
	var previous *profile.Profile
	err := t.Profiles.Update(ctx, p.Name, func(stored *profile.Profile) (*profile.Profile, error) {
		previous = stored
		return p, nil
	})
	return previous, err
}

func (t Terminal) readKey() (string, error) {
	line, err := bufio.NewReader(t.In).ReadString('\n')
	if key := strings.TrimSpace(line); key != "" {
		return key, nil
	}
	return "", usagef("no API key on standard input (%w): pass the key on the first line", err)
}

func (t Terminal) signIn(ctx context.Context, url string, o LoginOptions) (*profile.OAuth, error) {
	name := "pressroom command line"
	if host, err := os.Hostname(); err == nil {
		name += " on " + host
	}
	tokens, err := profile.Login{URL: url, Name: name, Scope: o.Scope, HTTP: &http.Client{Timeout: time.Minute},
		Open: func(address string) error {
			if o.Open != nil && o.Open(address) == nil {
				fmt.Fprintln(t.Err, "Continue in your browser. If it does not open, open this address on this machine:")
			} else {
				fmt.Fprintln(t.Err, "Open this address in a browser on this machine:")
			}
			fmt.Fprintf(t.Err, "\n  %s\n\n", address)
			return nil
		}}.Run(ctx)
	return &tokens, err
}

// describe sets the names of the person and the team in p. It requests them from the service, which also checks the
// credential.
func (t Terminal) describe(ctx context.Context, p *profile.Profile, s settings) error {
	key := p.Key
	if p.OAuth != nil {
		key = p.OAuth.AccessToken
	}
	c, err := connection{url: p.URL, key: key}.client(s)
	if err != nil {
		return err
	}
	a, err := c.Call(ctx, "get_identity", nil)
	if err != nil {
		if apiErr, ok := errors.AsType[*client.Error](err); ok {
			return fmt.Errorf("the service rejects the credential: %s (%s)", apiErr.Detail, apiErr.Code)
		}
		return fmt.Errorf("checking the credential: %w", err)
	}
	var identity struct {
		Data struct {
			Person struct {
				Name string `json:"name"`
			} `json:"person"`
			Team struct {
				Name string `json:"name"`
			} `json:"team"`
		} `json:"data"`
	}
	if err := json.Unmarshal(a.Raw, &identity); err != nil {
		return fmt.Errorf("reading the response: %w", err)
	}
	p.Person, p.Team = oneLine(identity.Data.Person.Name), oneLine(identity.Data.Team.Name)
	return nil
}

// endSignIn ends the sign-in of a profile that is no longer stored, even if ctx is canceled. If that fails, it prints
// where the person can end the sign-in in the app.
func (t Terminal) endSignIn(ctx context.Context, p *profile.Profile) {
	if p == nil || p.OAuth == nil {
		return
	}
	if err := profile.Revoke(context.WithoutCancel(ctx), &http.Client{Timeout: time.Minute}, *p.OAuth); err != nil {
		fmt.Fprintf(t.Err, "A sign-in could not be ended (%v). End it at %s in Settings, Apps and assistants.\n", err, p.URL)
	}
}

// Logout ends the sign-in of a profile and removes the profile. An API key in the profile stays valid.
func Logout(ctx context.Context, t Terminal, name string) error {
	name = cmp.Or(name, t.Env(profileVariable), profile.Default)
	var removed *profile.Profile
	err := t.Profiles.Update(ctx, name, func(stored *profile.Profile) (*profile.Profile, error) {
		if removed = stored; removed == nil {
			return nil, fmt.Errorf("%s: %w", name, profile.ErrNotFound)
		}
		return nil, nil //nolint:nilnil // nil removes the profile
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "Removed the profile %s.\n", name)
	t.endSignIn(ctx, removed)
	return nil
}

// ListProfiles prints all profiles without their credentials.
func ListProfiles(t Terminal, format string) error {
	o := output{format: format}
	if err := o.check(); err != nil {
		return err
	}
	profiles, err := t.Profiles.List()
	if err != nil {
		return err
	}
	selected, err := t.selectedProfile(settings{})
	if err != nil {
		return err
	}
	type row struct {
		Name       string `json:"name"`
		URL        string `json:"url"`
		Person     string `json:"person"`
		Team       string `json:"team"`
		Credential string `json:"credential"`
		Selected   bool   `json:"selected"`
	}
	rows := []row{}
	for _, p := range profiles {
		rows = append(rows, row{p.Name, p.URL, p.Person, p.Team,
			map[bool]string{true: "sign-in", false: "API key"}[p.OAuth != nil], p.Name == selected})
	}
	if len(rows) == 0 && format == "table" {
		fmt.Fprintln(t.Err, "There are no profiles. To add one, run: pressroom login --url URL")
		return nil
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encoding profiles: %w", err)
	}
	return t.printAs(raw, o)
}
