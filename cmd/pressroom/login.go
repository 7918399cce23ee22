package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/mattn/go-isatty"

	"pressroom.example/pressroom/internal/apicli"
	"pressroom.example/pressroom/internal/apicli/profile"
)

type loginCmd struct {
	Profile   string `help:"Name of the profile. If omitted: PRESSROOM_PROFILE, or the profile named default."`
	URL       string `help:"URL of the service. If omitted: the profile's URL, PRESSROOM_URL, or http://127.0.0.1:8080."`
	WithKey   bool   `help:"Read an API key from standard input instead of signing in with a browser."`
	Scope     string `help:"Capabilities to request, separated by spaces: read, write, publish, spend. All if omitted."`
	NoBrowser bool   `help:"Print the URL of the sign-in page instead of opening a browser."`
	PlainHTTP bool   `name:"plain-http" help:"Allow sending the credential over plain HTTP to another machine."`
}

// Help returns the details of `pressroom login --help`.
func (loginCmd) Help() string {
	return `Opens a page of the service in your browser. There, you sign in, choose the team, and choose what the command
line may do. Afterwards, pressroom call and pressroom mcp work without an API key. On a machine without a browser, use
an API key:

  pressroom login --profile build --url https://press.example.com --with-key < key.txt

A profile is a file with the URL of a service and the credential for it. Profiles are in your configuration folder, such
as ~/.config/pressroom/profiles, and only you can read them. Select one with --profile or PRESSROOM_PROFILE.`
}

// Run signs in.
func (c loginCmd) Run(ctx context.Context) error {
	o := apicli.LoginOptions{Profile: c.Profile, URL: c.URL, WithKey: c.WithKey, Scope: c.Scope, PlainHTTP: c.PlainHTTP}
	if !c.NoBrowser {
		o.Open = func(address string) error { return openBrowser(ctx, address) }
	}
	return apicli.Login(ctx, terminal(), o)
}

type logoutCmd struct {
	Profile string `help:"Name of the profile. If omitted: PRESSROOM_PROFILE, or the profile named default."`
}

// Run signs out and removes the profile.
func (c logoutCmd) Run(ctx context.Context) error {
	return apicli.Logout(ctx, terminal(), c.Profile)
}

type profilesCmd struct {
	List profilesList `cmd:"" help:"List the profiles."`
}

type profilesList struct {
	Output string `help:"Format: table, json or yaml." enum:"table,json,yaml" default:"table" short:"o"`
}

// Run lists the profiles.
func (c profilesList) Run() error {
	return apicli.ListProfiles(terminal(), c.Output)
}

// terminal returns the environment of a command that calls the API.
func terminal() apicli.Terminal {
	folder, err := profile.Folder()
	if err != nil { // a system user who has no home folder cannot have profiles
		folder = ""
	}
	return apicli.Terminal{
		Env: os.Getenv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Pretty: isatty.IsTerminal(os.Stdout.Fd()),
		Color: hasColor(os.Stdout), ErrColor: hasColor(os.Stderr), Profiles: profile.Open(folder),
	}
}

// hasColor reports whether output to f may have colors: f is a terminal that supports them, and NO_COLOR
// (no-color.org) is not set.
func hasColor(f *os.File) bool {
	term := os.Getenv("TERM")
	if os.Getenv("NO_COLOR") != "" || term == "dumb" || runtime.GOOS == "windows" && term == "" && os.Getenv("WT_SESSION") == "" {
		return false
	}
	return isatty.IsTerminal(f.Fd())
}

// openBrowser opens an address in the user's browser.
func openBrowser(ctx context.Context, address string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "" {
			return errors.New("this machine has no desktop environment")
		}
	}
	if err := exec.CommandContext(ctx, command[0], append(command[1:], address)...).Start(); err != nil { //nolint:gosec // fixed programs
		return fmt.Errorf("opening the browser: %w", err)
	}
	return nil
}
