package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/api/rest"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// prepareDemo creates the demo team at the first start, and new API keys at every start.
func (q *Quickstart) prepareDemo(ctx context.Context, dir string) error {
	password, err := readOrCreate(filepath.Join(dir, "owner.password"), func() (string, error) { return rand.Text(), nil })
	if err != nil {
		return err
	}
	demo, isNew, err := q.ensureTeam(ctx, password)
	if err != nil {
		return err
	}
	q.Greeting.Team = GreetingTeam{demo.ID, demo.Timezone}
	q.Greeting.AppURL, q.Greeting.BaseURL, q.Greeting.MCPURL = q.cfg.PublicURL, q.cfg.PublicURL+rest.Prefix,
		q.cfg.PublicURL+mcpPath
	if q.Greeting.Owner, err = q.demoOwner(ctx, password); err != nil {
		return err
	}
	if err := q.ensureSandboxAccounts(ctx, isNew); err != nil {
		return err
	}
	if err := q.connectDemo(ctx, demo.ID); err != nil {
		return err
	}
	if err := q.addKeys(ctx, demo.ID); err != nil {
		return err
	}
	if err := q.connectEverywhere(ctx, demo.ID); err != nil {
		return err
	}
	if err := q.resumeIfCopied(ctx); err != nil {
		return err
	}
	q.isFirstStart = isNew
	return nil
}

// ensureTeam returns the demo team, and reports whether it was just created. It makes the team's owner an operator.
func (q *Quickstart) ensureTeam(ctx context.Context, password string) (team.Team, bool, error) {
	teams, err := q.Teams.Teams(ctx)
	if err != nil {
		return team.Team{}, false, err
	}
	first := len(teams) == 0
	if first {
		created, err := q.addTeam(ctx, password)
		if err != nil {
			return team.Team{}, false, err
		}
		teams = append(teams, created)
	}
	owner, err := q.Teams.SetOperator(ctx, demoEmail, true)
	if err == nil { // no notification is needed, because the greeting says that the owner is an operator
		err = q.Notifications.Delete(ctx, 0, notification.OperatorChanged, strconv.FormatInt(owner.ID, 10))
	}
	if err != nil {
		return team.Team{}, false, fmt.Errorf("making the demo team's owner an operator: %w", err)
	}
	return teams[0], first, nil
}

// demoOwner returns the credentials of the demo team's owner. If the password was changed in the app, it returns a
// command for setting a new one instead of the password.
func (q *Quickstart) demoOwner(ctx context.Context, password string) (GreetingOwner, error) {
	works, err := q.Teams.HasPassword(ctx, demoEmail, password)
	if err != nil {
		return GreetingOwner{}, err
	}
	if works {
		return GreetingOwner{Email: demoEmail, Password: password}, nil
	}
	command := "pressroom admin people recover " + demoEmail + " --database " + shellQuote(q.cfg.Database) +
		" --public-url " + q.cfg.PublicURL
	return GreetingOwner{Email: demoEmail, Recover: command}, nil
}

// shellQuote quotes text as one word for a POSIX shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// resumeIfCopied ends the hold if the data directory was copied or moved. This is safe because the directory also
// contains the sandbox networks.
func (q *Quickstart) resumeIfCopied(ctx context.Context) error {
	state, err := q.Hold.State(ctx)
	if err != nil || !state.IsHeld() || state.Cause == restoreguard.Manual {
		return err
	}
	_, err = q.Resume(ctx, delivery.ResumeOptions{MaxLateness: DefaultMaxLateness, AllowUnreachable: true})
	return err
}

// ensureSandboxAccounts creates accounts on the sandbox's Bluesky and, at the first start, adds the prior posts.
func (q *Quickstart) ensureSandboxAccounts(ctx context.Context, isNew bool) error {
	err := errors.Join(q.sandbox.EnsureBlueskyAccount(demoHandle, "Harbour Coffee", demoAppPassword),
		q.sandbox.EnsureBlueskyAccount(demoSecondHandle, "Harbour Roastery", demoAppPassword))
	if err != nil {
		return fmt.Errorf("creating the demo accounts: %w", err)
	}
	if !isNew {
		return nil
	}
	return q.addPriorPosts(ctx)
}

// AddSamples adds sample data of every kind to the demo team at the first start, and grants the team credits. It waits
// until the reports are finished. The server must be running, because networks download pictures from it.
func (q *Quickstart) AddSamples(ctx context.Context) error {
	if q.isFirstStart {
		if err := q.addSamples(ctx, q.Greeting.Team.ID); err != nil {
			return err
		}
	}
	// The reference prevents a second grant at a later start.
	if _, err := q.Credits.Grant(ctx, q.Greeting.Team.ID, demoCredits, "quickstart", "demo credits"); err != nil {
		return fmt.Errorf("granting the demo team credits: %w", err)
	}
	if err := q.findSample(ctx); err != nil {
		return err
	}
	if err := q.waitForReports(ctx); err != nil || !q.isFirstStart {
		return err
	}
	return q.addEngagementRates(ctx)
}

func (q *Quickstart) addSamples(ctx context.Context, team int64) error {
	pictures, err := q.addSampleMedia(ctx, team)
	if err != nil {
		return err
	}
	if err := q.addPastPosts(ctx, team, pictures); err != nil {
		return err
	}
	q.clock.returnToNow()
	q.waker.RecordHeartbeat()
	if err := q.addSamplePosts(ctx, team, pictures); err != nil {
		return err
	}
	if err := q.addSampleReports(ctx, team); err != nil {
		return err
	}
	if err := q.addSampleHashtags(ctx); err != nil {
		return err
	}
	if err := q.addSampleLists(ctx); err != nil {
		return err
	}
	return q.addSampleVoices(ctx, team)
}

func (q *Quickstart) findSample(ctx context.Context) error {
	out, err := q.call(ctx, "list_posts", operation.Arguments{"status": "draft", "limit": int64(1)})
	if err != nil {
		return err
	}
	if list, ok := out.Data.(post.PostList); ok && len(list.Posts) > 0 {
		q.Sample = list.Posts[0].ID
	}
	return nil
}

func (q *Quickstart) addTeam(ctx context.Context, password string) (team.Team, error) {
	owner, err := q.Teams.AddPerson(ctx, "Ada Okafor", demoEmail, password)
	if err != nil {
		return team.Team{}, err
	}
	q.owner = owner.ID
	return q.Teams.AddTeam(ctx,
		team.Team{Name: "Harbour Coffee", Timezone: demoTimezone, Language: "en", Plan: "agency"}, owner.ID)
}

// demoKeyLifetime is the lifetime of the demo team's API keys. Every start adds new keys.
const demoKeyLifetime = 30 * 24 * time.Hour

// addKeys creates an API key of each level for the greeting. It does not send notifications.
func (q *Quickstart) addKeys(ctx context.Context, teamID int64) error {
	q.Greeting.Keys = map[string]string{}
	for _, level := range access.Levels() {
		key, value, err := q.Teams.AddKey(ctx,
			team.NewKey{
				Team: teamID, Name: "quickstart " + string(level), Level: level, Expires: q.clock.now().Add(demoKeyLifetime),
			})
		if err != nil {
			return err
		}
		if err := q.Notifications.Delete(ctx, teamID, notification.KeyChanged, strconv.FormatInt(key.ID, 10)); err != nil {
			return err
		}
		q.Greeting.Keys[string(level)] = value
	}
	return nil
}

// connectDemo connects the demo account. It reconnects an account whose connection was lost, or for which the address
// of the sandbox has changed.
func (q *Quickstart) connectDemo(ctx context.Context, teamID int64) error {
	if id, found := q.Accounts.Find(ctx, teamID, "bluesky", demoHandle); found {
		g, err := q.Accounts.Grant(ctx, id)
		if err == nil && !g.Lost && strings.HasPrefix(g.Server, q.Greeting.SandboxURL) {
			return nil
		}
	}
	_, err := q.Accounts.Connect(ctx, teamID, "bluesky",
		network.Credentials{Server: q.cfg.SandboxBluesky.Server, Identifier: demoHandle, Password: demoAppPassword})
	if err != nil {
		return fmt.Errorf("connecting the demo account: %w", err)
	}
	return nil
}

func (q *Quickstart) call(ctx context.Context, tool string, args operation.Arguments) (pipeline.Outcome, error) {
	out, err := q.pipe.Call(ctx, pipeline.Request{
		Operation: q.registry.Tool(tool), Credential: q.Greeting.Keys[string(access.Full)], RequestID: "quickstart",
		Arguments: func() (operation.Arguments, error) { return args, nil },
	})
	if err != nil {
		return out, fmt.Errorf("%s for the demo team: %w", tool, err)
	}
	return out, nil
}
