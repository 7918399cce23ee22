package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/api/rest"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/notification"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/team"
	"pressroom/internal/network"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/sandbox"
)

// Quickstart is the whole program with sandbox networks and a demo team, on one directory.
type Quickstart struct {
	*Server
	Greeting Greeting
	owner    int64  // the demo team's
	Sample   string // the id of a draft to try things on, empty where there is none
	lock     *os.File
	box      *sandbox.Server
	boxHTTP  *http.Server
}

// Greeting is what a newcomer needs; --json prints it as the first line.
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

// GreetingOwner is how the demo team's owner signs in.
type GreetingOwner struct {
	Email    string `json:"email"`
	Password string `json:"password"` // empty if it was changed
	// Recover is the command that makes a link to set a new password. It is empty while Password works.
	Recover string `json:"recover,omitempty"`
}

const (
	demoEmail        = "ada@harbour.example"
	demoHandle       = "harbour-coffee.test"
	demoTimezone     = "Europe/Berlin"
	demoCredits      = 1000
	demoCollect      = time.Minute // the sandbox networks bear to be asked so often, and one sees what comes of a post
	demoMeasureReady = 10 * time.Second
	demoSpeed        = 50 // how many times the rates of a service, so that one can try things out in loops
)

// OpenQuickstart builds the program on a directory. What the directory holds from an earlier start is kept.
func OpenQuickstart(ctx context.Context, dir string, cfg Config) (*Quickstart, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of --data: %w", err)
	}
	// A second process would move the sandbox networks away from under the first.
	lock, err := Lock(filepath.Join(dir, "pressroom.db.lock"),
		"another pressroom runs on this directory: stop it, or choose another with --data")
	if err != nil {
		return nil, err
	}
	key, err := sealingKey(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	q := &Quickstart{lock: lock}
	if err := q.openSandbox(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	cfg.Database, cfg.SealingKey, cfg.Role = "sqlite:"+filepath.Join(dir, "pressroom.db"), key, RoleAll
	cfg.Blobs, cfg.BridgeURL = "file:"+filepath.Join(dir, "pressroom.db.media"), q.Greeting.SandboxURL+"/vendor"
	cfg.BlueskyServers, cfg.Networks = []string{q.Greeting.SandboxURL + "/bluesky"},
		SandboxNetworks(q.Greeting.SandboxURL)
	if cfg.Sources, err = q.sandboxSources(ctx); err != nil {
		return nil, errors.Join(err, q.closeSandbox())
	}
	offered := plan.Shipped().Faster(demoSpeed)
	cfg.Terms, cfg.CollectEvery, cfg.MeasureReadyEvery = &offered, demoCollect, demoMeasureReady
	if q.Server, err = Open(ctx, cfg); err != nil {
		return nil, errors.Join(err, q.closeSandbox())
	}
	if err := q.furnish(ctx, dir); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

// Close closes everything.
func (q *Quickstart) Close() error { return errors.Join(q.Server.Close(), q.closeSandbox()) }

// sealingKey is kept where pressroom admin looks for it. Earlier versions kept it by another name.
func sealingKey(dir string) (string, error) {
	path := filepath.Join(dir, "pressroom.db.sealing-key")
	if err := os.Rename(filepath.Join(dir, "sealing.key"), path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("renaming the sealing key: %w", err)
	}
	return keptText(path, tokencrypt.NewKey)
}

// keptText reads a small secret file, or makes it where it is not there yet.
func keptText(path string, fresh func() (string, error)) (string, error) {
	raw, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(raw)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	text, err := fresh()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return text, nil
}

// openSandbox starts the sandbox networks at the address they had before, where it is still free: what they
// hold stays at the same links.
func (q *Quickstart) openSandbox(dir string) error {
	remembered := filepath.Join(dir, "sandbox.addr")
	addr, _ := os.ReadFile(remembered) // none at the first start
	listener, err := net.Listen("tcp", strings.TrimSpace(string(addr)))
	if len(addr) == 0 || err != nil {
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return fmt.Errorf("listening for the sandbox networks: %w", err)
		}
	}
	if err := os.WriteFile(remembered, []byte(listener.Addr().String()), 0o600); err != nil {
		return errors.Join(fmt.Errorf("remembering the sandbox's address: %w", err), listener.Close())
	}
	q.Greeting.SandboxURL = "http://" + listener.Addr().String()
	if q.box, err = sandbox.Open(filepath.Join(dir, "sandbox"),
		sandbox.Options{URL: q.Greeting.SandboxURL}); err != nil {
		return errors.Join(fmt.Errorf("opening the sandbox networks: %w", err), listener.Close())
	}
	q.boxHTTP = newHTTPServer(q.box.Handler())
	go func() { _ = q.boxHTTP.Serve(listener) }() // ends with closeSandbox
	return nil
}

func (q *Quickstart) closeSandbox() error {
	return errors.Join(q.boxHTTP.Close(), q.box.Close(), q.lock.Close())
}

// furnish makes the demo team on the first start, and new keys on every one.
func (q *Quickstart) furnish(ctx context.Context, dir string) error {
	password, err := keptText(filepath.Join(dir, "owner.password"), func() (string, error) { return rand.Text(), nil })
	if err != nil {
		return err
	}
	demo, first, err := q.ensureTeam(ctx, password)
	if err != nil {
		return err
	}
	q.Greeting.Team = GreetingTeam{demo.ID, demo.Timezone}
	q.Greeting.AppURL, q.Greeting.BaseURL, q.Greeting.MCPURL = q.cfg.PublicURL, q.cfg.PublicURL+rest.Prefix,
		q.cfg.PublicURL+mcpPath
	if q.Greeting.Owner, err = q.demoOwner(ctx, password); err != nil {
		return err
	}
	if err := q.settle(ctx, password, first); err != nil {
		return err
	}
	account, err := q.connectDemo(ctx, demo.ID, password)
	if err != nil {
		return err
	}
	if err := q.makeKeys(ctx, demo.ID); err != nil {
		return err
	}
	if err := q.connectEverywhere(ctx, demo.ID); err != nil {
		return err
	}
	if err := q.goOn(ctx); err != nil {
		return err
	}
	if first {
		if err := q.samples(ctx, demo.ID, account); err != nil {
			return err
		}
	}
	return q.findSample(ctx)
}

// ensureTeam returns the demo team with its credits and its operator, and whether this start made it.
func (q *Quickstart) ensureTeam(ctx context.Context, password string) (team.Team, bool, error) {
	teams, err := q.Teams.Teams(ctx)
	if err != nil {
		return team.Team{}, false, err
	}
	first := len(teams) == 0
	if first {
		made, err := q.makeTeam(ctx, password)
		if err != nil {
			return team.Team{}, false, err
		}
		teams = append(teams, made)
	}
	// Recognised by its reference: a later start grants nothing again.
	if _, err := q.Credits.Grant(ctx, teams[0].ID, demoCredits, "quickstart", "to try things with"); err != nil {
		return team.Team{}, false, fmt.Errorf("granting the demo team credits: %w", err)
	}
	owner, err := q.Teams.SetOperator(ctx, demoEmail, true)
	if err == nil { // the greeting says so
		err = q.Notices.Forget(ctx, 0, notification.OperatorChanged, strconv.FormatInt(owner.ID, 10))
	}
	if err != nil {
		return team.Team{}, false, fmt.Errorf("making the demo team's owner an operator: %w", err)
	}
	return teams[0], first, nil
}

// demoOwner returns how the demo team's owner signs in. The kept password is left out once it has been changed in the
// app.
func (q *Quickstart) demoOwner(ctx context.Context, kept string) (GreetingOwner, error) {
	works, err := q.Teams.HasPassword(ctx, demoEmail, kept)
	if err != nil {
		return GreetingOwner{}, err
	}
	if works {
		return GreetingOwner{Email: demoEmail, Password: kept}, nil
	}
	command := "pressroom admin people recover " + demoEmail + " --database " + shellQuote(q.cfg.Database) +
		" --public-url " + q.cfg.PublicURL
	return GreetingOwner{Email: demoEmail, Recover: command}, nil
}

// shellQuote quotes a text as one word of a POSIX shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// goOn resumes a directory that was copied or moved: what its sandbox networks hold came along, and is asked for.
func (q *Quickstart) goOn(ctx context.Context) error {
	state, err := q.Hold.State(ctx)
	if err != nil || !state.Held() || state.Why == restoreguard.ByHand {
		return err
	}
	// its networks are a sandbox's
	_, err = q.Resume(ctx, delivery.ResumeOptions{MaxLateness: LateByDefault, AllowUnreachable: true})
	return err
}

// settle makes the demo account on the sandbox's Bluesky, and at the first start the posts that the team had before.
func (q *Quickstart) settle(ctx context.Context, password string, first bool) error {
	if err := q.box.EnsureBlueskyAccount(demoHandle, "Harbour Coffee", password); err != nil {
		return fmt.Errorf("making the demo account: %w", err)
	}
	if !first {
		return nil
	}
	return q.earlierPosts(ctx)
}

// samples gives the demo team something of everything, to look at and to try things on.
func (q *Quickstart) samples(ctx context.Context, team, account int64) error {
	shown, err := q.sampleMedia(ctx, team)
	if err != nil {
		return err
	}
	if err := q.publishSample(ctx, team, account); err != nil {
		return err
	}
	if err := q.samplePosts(ctx, account, shown); err != nil {
		return err
	}
	if err := q.sampleReport(ctx, team); err != nil {
		return err
	}
	if err := q.sampleHashtags(ctx); err != nil {
		return err
	}
	return q.sampleVoices(ctx, team)
}

func (q *Quickstart) findSample(ctx context.Context) error {
	out, err := q.ask(ctx, "list_posts", operation.Arguments{"status": "draft", "limit": int64(1)})
	if err != nil {
		return err
	}
	if list, ok := out.Data.(post.PostList); ok && len(list.Posts) > 0 {
		q.Sample = list.Posts[0].ID
	}
	return nil
}

func (q *Quickstart) makeTeam(ctx context.Context, password string) (team.Team, error) {
	owner, err := q.Teams.AddPerson(ctx, "Ada Okafor", demoEmail, password)
	if err != nil {
		return team.Team{}, err
	}
	q.owner = owner.ID
	return q.Teams.AddTeam(ctx,
		team.Team{Name: "Harbour Coffee", Timezone: demoTimezone, Language: "en", Plan: "agency"}, owner.ID)
}

// demoKeysLast is how long the keys of one start are good: each start makes new ones and keeps the earlier ones.
const demoKeysLast = 30 * 24 * time.Hour

// makeKeys makes a key of each level. They stand in the greeting, so that nobody is told of them a second time.
func (q *Quickstart) makeKeys(ctx context.Context, teamID int64) error {
	q.Greeting.Keys = map[string]string{}
	for _, level := range access.Levels() {
		key, value, err := q.Teams.AddKey(ctx,
			team.NewKey{
				Team: teamID, Name: "quickstart " + string(level), Level: level, Expires: q.db.Now().Add(demoKeysLast),
			})
		if err != nil {
			return err
		}
		if err := q.Notices.Forget(ctx, teamID, notification.KeyChanged, strconv.FormatInt(key.ID, 10)); err != nil {
			return err
		}
		q.Greeting.Keys[string(level)] = value
	}
	return nil
}

// connectDemo connects the demo account, and again where its connection was lost (a marker can do that) or the
// sandbox had to move to another address.
func (q *Quickstart) connectDemo(ctx context.Context, teamID int64, password string) (int64, error) {
	server := q.Greeting.SandboxURL + "/bluesky"
	if id, there := q.Accounts.Find(ctx, teamID, "bluesky", demoHandle); there {
		if g, err := q.Accounts.Grant(ctx, id); err == nil && !g.Lost && strings.HasPrefix(g.Server,
			q.Greeting.SandboxURL) {
			return id, nil
		}
	}
	a, err := q.Accounts.Connect(ctx, teamID, "bluesky",
		network.Credentials{Server: server, Identifier: demoHandle, Password: password})
	if err != nil {
		return 0, fmt.Errorf("connecting the demo account: %w", err)
	}
	return a.ID, nil
}

// samplePosts drafts some posts and schedules one, through the API's own path.
func (q *Quickstart) samplePosts(ctx context.Context, account int64, shown []any) error {
	captions := []string{
		"Our winter blend is back: chocolate, orange peel and a little smoke. #coffee",
		"Open from eight on Sunday. Come by after your run!",
		"How we roast: fifteen minutes, one person, no shortcuts. https://harbour.example/roasting",
	}
	var last string
	for n, caption := range captions {
		args := operation.Arguments{"caption": caption, "account_ids": []any{account}}
		if n == 0 {
			args["media_ids"] = shown
		}
		out, err := q.ask(ctx, "create_post", args)
		if err != nil {
			return err
		}
		last = strings.TrimPrefix(out.Location, "/posts/")
	}
	when := time.Now().UTC().AddDate(0, 0, 3).Truncate(time.Hour).Format(time.RFC3339)
	_, err := q.ask(ctx, "schedule_post", operation.Arguments{"post_id": last, "scheduled_at": when})
	return err
}

// publishSample has a first post go out to two accounts, through the API's own path, a moment after the service
// answers.
func (q *Quickstart) publishSample(ctx context.Context, team, account int64) error {
	threads, there := q.Accounts.FindFirst(ctx, team, "threads")
	if !there {
		return errors.New("the demo team has no Threads account")
	}
	out, err := q.ask(ctx, "create_post", operation.Arguments{
		"caption":     "We are on the quay, and from today also where you are reading this. #coffee",
		"account_ids": []any{account, threads},
	})
	if err != nil {
		return err
	}
	_, err = q.ask(ctx, "publish_post", operation.Arguments{"post_id": strings.TrimPrefix(out.Location, "/posts/")})
	return err
}

func (q *Quickstart) ask(ctx context.Context, tool string, args operation.Arguments) (pipeline.Outcome, error) {
	out, err := q.pipe.Call(ctx, pipeline.Request{
		Operation: q.registry.Tool(tool), Credential: q.Greeting.Keys[string(access.Full)], RequestID: "quickstart",
		Arguments: func() (operation.Arguments, error) { return args, nil },
	})
	if err != nil {
		return out, fmt.Errorf("%s for the demo team: %w", tool, err)
	}
	return out, nil
}
