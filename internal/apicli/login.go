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

// LoginOptions selects the profile of a sign-in and the service.
type LoginOptions struct {
	Profile, URL string
	WithKey      bool // reads an API key from In instead of signing in
	Scope        string
	PlainHTTP    bool
	Open         func(address string) error // opens the browser; nil if there is none
}

// Login signs in to a service and stores the credential in a profile. It replaces the profile if it exists, and ends its
// earlier sign-in.
func Login(ctx context.Context, t Terminal, o LoginOptions) error {
	o.Profile = cmp.Or(o.Profile, t.Env(profileVariable), profile.Default)
	before, err := t.Profiles.Get(o.Profile)
	if err != nil && !errors.Is(err, profile.ErrNotFound) {
		return err
	}
	p := profile.Profile{Name: o.Profile, URL: baseURL(cmp.Or(o.URL, before.URL, t.Env(urlVariable), defaultURL))}
	s := settings{plain: o.PlainHTTP, attempts: 1}
	if _, err := (access{p.URL, profileKey, &http.Client{}}).client(s); err != nil { // checks the address
		return err
	}
	if o.WithKey {
		p.Key, err = t.readKey()
	} else {
		p.OAuth, err = t.signIn(ctx, p.URL, o)
	}
	if err == nil {
		err = t.describe(ctx, &p, s)
	}
	if err == nil {
		err = t.Profiles.Put(p)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "Signed in to %s as %s in the team %s. Profile: %s\n", p.URL, p.Person, p.Team, p.Name)
	return t.revoke(ctx, before)
}

func (t Terminal) readKey() (string, error) {
	line, err := bufio.NewReader(t.In).ReadString('\n')
	if key := strings.TrimSpace(line); key != "" {
		return key, nil
	}
	return "", usagef("no API key on standard input (%w)", err)
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

// describe sets the names of the person and the team, which also checks the credential.
func (t Terminal) describe(ctx context.Context, p *profile.Profile, s settings) error {
	key := p.Key
	if p.OAuth != nil {
		key = p.OAuth.AccessToken
	}
	c, err := access{p.URL, key, &http.Client{}}.client(s)
	if err != nil {
		return err
	}
	a, err := c.Call(ctx, "get_identity", nil)
	if err != nil {
		if refused, ok := errors.AsType[*client.Error](err); ok {
			return fmt.Errorf("the service refuses the credential: %s (%s)", refused.Detail, refused.Code)
		}
		return fmt.Errorf("checking the credential: %w", err)
	}
	var got struct {
		Data struct {
			Person struct {
				Name string `json:"name"`
			} `json:"person"`
			Team struct {
				Name string `json:"name"`
			} `json:"team"`
		} `json:"data"`
	}
	if err := json.Unmarshal(a.Raw, &got); err != nil {
		return fmt.Errorf("reading the response: %w", err)
	}
	p.Person, p.Team = oneLine(got.Data.Person.Name), oneLine(got.Data.Team.Name)
	return nil
}

// revoke ends the sign-in of a profile. If that fails, it prints where people can end it.
func (t Terminal) revoke(ctx context.Context, p profile.Profile) error {
	if p.OAuth == nil {
		return nil
	}
	if err := profile.Revoke(ctx, &http.Client{Timeout: time.Minute}, *p.OAuth); err != nil {
		fmt.Fprintf(t.Err, "The earlier sign-in could not be ended (%v). End it at %s in Settings, Assistants.\n", err, p.URL)
	}
	return nil
}

// Logout ends the sign-in of a profile and removes the profile. An API key stays valid.
func Logout(ctx context.Context, t Terminal, name string) error {
	name = cmp.Or(name, t.Env(profileVariable), profile.Default)
	p, err := t.Profiles.Get(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := t.Profiles.Delete(name); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "Removed the profile %s.\n", name)
	return t.revoke(ctx, p)
}

// ListProfiles prints all profiles without their credentials.
func ListProfiles(t Terminal, format string) error {
	o := output{format: format}
	if err := o.check(); err != nil {
		return err
	}
	all, err := t.Profiles.List()
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
	for _, p := range all {
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
