// Package profile stores the URLs of services and the command line's credentials for them. A credential is an API key,
// or the tokens from a sign-in with the browser (OAuth).
package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Default is the name of the profile that is used if none is selected.
const Default = "default"

const extension = ".json"

// ErrNotFound is the error for a profile that does not exist.
var ErrNotFound = errors.New("there is no such profile")

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Profile is the URL of a service with a credential for it.
type Profile struct {
	Name   string `json:"-"`
	URL    string `json:"url"`              // URL of the service, without a trailing slash
	Person string `json:"person,omitempty"` // who signed in
	Team   string `json:"team,omitempty"`   // name of the team
	Key    string `json:"key,omitempty"`    // API key; empty if OAuth is set
	OAuth  *OAuth `json:"oauth,omitempty"`
}

// OAuth is the state of a sign-in with the browser.
type OAuth struct {
	ClientID      string    `json:"client_id"`
	TokenURL      string    `json:"token_url"`
	RevocationURL string    `json:"revocation_url"`
	AccessToken   string    `json:"access_token"`
	RefreshToken  string    `json:"refresh_token"`
	Expires       time.Time `json:"expires"` // expiry of the access token
}

// Store is a folder with a file for each profile. Only the owner can read the files.
type Store struct{ folder string }

// Open returns the store in a folder, which does not have to exist. If folder is empty, there are no profiles.
func Open(folder string) Store { return Store{folder} }

// Folder returns the path of the folder with the current user's profiles.
func Folder() (string, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the configuration folder: %w", err)
	}
	return filepath.Join(config, "pressroom", "profiles"), nil
}

func (s Store) path(name string) (string, error) {
	if s.folder == "" {
		return "", errors.New("no configuration folder: set HOME or XDG_CONFIG_HOME")
	}
	if !validName.MatchString(name) {
		return "", errors.New("invalid profile name: use 1 to 64 letters, digits, dots, hyphens or underscores, " +
			"and begin with a letter or digit")
	}
	return filepath.Join(s.folder, name+extension), nil
}

// Get returns a profile, or ErrNotFound.
func (s Store) Get(name string) (Profile, error) {
	p := Profile{Name: name}
	if s.folder == "" {
		return p, ErrNotFound
	}
	path, err := s.path(name)
	if err != nil {
		return p, err
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the name has no separators
	if errors.Is(err, fs.ErrNotExist) {
		return p, ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return p, fmt.Errorf("reading the profile %s: %w", name, err)
	}
	return p, nil
}

// Update calls change with a stored profile, or with nil if the profile does not exist, and stores the profile that
// change returns. To keep the stored profile, change returns its argument; to remove the profile, it returns nil.
// Meanwhile, the profile is locked against other processes.
func (s Store) Update(ctx context.Context, name string, change func(*Profile) (*Profile, error)) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	var stored *Profile
	if p, err := s.Get(name); err == nil {
		stored = &p
	} else if !errors.Is(err, ErrNotFound) {
		return err
	}
	updated, err := change(stored)
	switch {
	case err != nil || updated == stored:
		return err
	case updated == nil:
		err = os.Remove(path)
	default:
		err = write(path, updated)
	}
	if err != nil {
		return fmt.Errorf("storing the profile %s: %w", name, err)
	}
	return nil
}

// write replaces the file atomically, so that other processes read either the old or the new profile.
func write(path string, p *Profile) error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err //nolint:wrapcheck // Update wraps it
	}
	return replaceFile(path, append(raw, '\n'))
}

func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // creates the file with mode 0600
	if err != nil {
		return err //nolint:wrapcheck // Update wraps it
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// List returns all profiles, sorted by name.
func (s Store) List() ([]Profile, error) {
	files, err := os.ReadDir(s.folder)
	if s.folder == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing profiles: %w", err)
	}
	var profiles []Profile
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), extension)
		if !ok || !validName.MatchString(name) {
			continue
		}
		p, err := s.Get(name)
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, p)
	}
	return profiles, nil
}

const (
	// lockTimeout is the maximum time to wait for other processes. Each holds the lock for at most exchangeTimeout.
	lockTimeout       = time.Minute
	lockRetryInterval = 50 * time.Millisecond // time between two attempts
)

var errLocked = fmt.Errorf("other processes have held the lock for %s: end them, then try again", lockTimeout)

// lock locks a profile against other processes and returns a function that unlocks it. It creates the folder if
// necessary.
func (s Store) lock(ctx context.Context, name string) (func(), error) {
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder for profiles: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(s.folder, "."+name+".lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the name is checked
	if err == nil {
		if err = waitForLock(ctx, f); err != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("locking the profile %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil // closing the file releases the lock
}

func waitForLock(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, errLocked)
	defer cancel()
	for {
		if locked, err := tryLock(f); locked || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockRetryInterval):
		}
	}
}
