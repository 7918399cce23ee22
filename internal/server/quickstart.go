package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/sandbox"
)

// Quickstart is a server with sandbox networks and a demo team, with all data in one directory.
type Quickstart struct {
	*Server
	Greeting Greeting
	Sample   string // ID of a draft to publish, or ""

	owner        int64 // ID of the demo team's owner
	isFirstStart bool  // whether this is the first start
	clock        demoClock
	lock         *os.File
	sandbox      *sandbox.Server
	sandboxHTTP  *http.Server
}

// Greeting contains the addresses and credentials for a new user. With --json, it is the first line of the output.
type Greeting struct {
	BaseURL    string            `json:"base_url"`
	AppURL     string            `json:"app_url"`
	MCPURL     string            `json:"mcp_url"`
	SandboxURL string            `json:"sandbox_url"`
	Team       GreetingTeam      `json:"team"`
	Owner      GreetingOwner     `json:"owner"`
	Keys       map[string]string `json:"keys"`
}

// GreetingTeam is the demo team.
type GreetingTeam struct {
	ID       int64  `json:"id"`
	Timezone string `json:"timezone"`
}

// GreetingOwner contains the credentials of the demo team's owner.
type GreetingOwner struct {
	Email    string `json:"email"`
	Password string `json:"password"` // empty if it was changed
	// Recover is the command that creates a link to set a new password. It is empty while Password works.
	Recover string `json:"recover,omitempty"`
}

const (
	demoEmail           = "ada@harbour.example"
	demoHandle          = "harbour-coffee.test"
	demoSecondHandle    = "harbour-roastery.test" // not connected yet, so that people can connect it
	demoAppPassword     = "sandbox-app-password"  // for both handles; valid only in the sandbox
	demoTimezone        = "Europe/Berlin"
	demoCredits         = 1000
	demoCollectInterval = time.Minute // so that a post's metrics appear soon
	demoMeasureInterval = 10 * time.Second
	demoRateFactor      = 50 // factor for the default rate limits, so that scripts can call the API in a loop
)

// OpenQuickstart sets up the program in a data directory. It keeps existing data. At the first start, the program's
// clock shows an earlier time until AddSamples has created the demo team's past data.
func OpenQuickstart(ctx context.Context, dir string, cfg Config) (*Quickstart, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data directory (--data): %w", err)
	}
	// A second process would change the address of the first process's sandbox networks.
	lock, err := Lock(filepath.Join(dir, "pressroom.db.lock"),
		"another pressroom process is using this directory: stop it, or choose another directory with --data")
	if err != nil {
		return nil, err
	}
	key, err := sealingKey(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	q := &Quickstart{lock: lock, clock: demoClock{now: cfg.Now}}
	if q.clock.now == nil {
		q.clock.now = time.Now
	}
	if _, err := os.Stat(filepath.Join(dir, "pressroom.db")); errors.Is(err, os.ErrNotExist) {
		q.clock.moveBack(demoHistory)
	}
	cfg.Now = q.clock.Now
	if err := q.openSandbox(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	cfg.Database, cfg.SealingKey, cfg.Role = "sqlite:"+filepath.Join(dir, "pressroom.db"), key, RoleAll
	cfg.Blobs, cfg.BridgeURL = "file:"+filepath.Join(dir, "pressroom.db.media"), q.Greeting.SandboxURL+"/vendor"
	cfg.BlueskyServers, cfg.Networks = []string{q.Greeting.SandboxURL + "/bluesky"},
		SandboxNetworks(q.Greeting.SandboxURL)
	cfg.Components = true
	cfg.SandboxBluesky = network.Credentials{
		Server: cfg.BlueskyServers[0], Identifier: demoSecondHandle, Password: demoAppPassword,
	}
	if cfg.Sources, err = q.sandboxSources(ctx); err != nil {
		return nil, errors.Join(err, q.closeSandbox())
	}
	catalog := plan.Default().ScaleRates(demoRateFactor)
	cfg.Catalog, cfg.CollectInterval, cfg.ReadyMadeInterval = &catalog, demoCollectInterval, demoMeasureInterval
	if q.Server, err = Open(ctx, cfg); err != nil {
		return nil, errors.Join(err, q.closeSandbox())
	}
	if err := q.prepareDemo(ctx, dir); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

// Close closes the server and the sandbox networks.
func (q *Quickstart) Close() error { return errors.Join(q.Server.Close(), q.closeSandbox()) }

// sealingKey reads or creates the sealing key in the file that pressroom admin uses. It renames the file of earlier
// versions, which had another name.
func sealingKey(dir string) (string, error) {
	path := filepath.Join(dir, "pressroom.db.sealing-key")
	if err := os.Rename(filepath.Join(dir, "sealing.key"), path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("renaming the sealing key: %w", err)
	}
	return readOrCreate(path, tokencrypt.NewKey)
}

// readOrCreate reads a secret from a file. If the file does not exist, it generates a secret and creates the file.
func readOrCreate(path string, generate func() (string, error)) (string, error) {
	raw, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(raw)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	text, err := generate()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return text, nil
}

// openSandbox starts the sandbox networks. It reuses their earlier address if possible, so that links stay valid.
func (q *Quickstart) openSandbox(dir string) error {
	addrFile := filepath.Join(dir, "sandbox.addr")
	addr, _ := os.ReadFile(addrFile) // the file does not exist on the first start
	listener, err := net.Listen("tcp", strings.TrimSpace(string(addr)))
	if len(addr) == 0 || err != nil {
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return fmt.Errorf("listening for the sandbox networks: %w", err)
		}
	}
	if err := os.WriteFile(addrFile, []byte(listener.Addr().String()), 0o600); err != nil {
		return errors.Join(fmt.Errorf("saving the sandbox's address: %w", err), listener.Close())
	}
	q.Greeting.SandboxURL = "http://" + listener.Addr().String()
	if q.sandbox, err = sandbox.Open(filepath.Join(dir, "sandbox"),
		sandbox.Options{URL: q.Greeting.SandboxURL, Now: q.clock.Now}); err != nil {
		return errors.Join(fmt.Errorf("opening the sandbox networks: %w", err), listener.Close())
	}
	q.sandboxHTTP = newHTTPServer(q.sandbox.Handler())
	go func() { _ = q.sandboxHTTP.Serve(listener) }() // ends with closeSandbox
	return nil
}

func (q *Quickstart) closeSandbox() error {
	return errors.Join(q.sandboxHTTP.Close(), q.sandbox.Close(), q.lock.Close())
}
