package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// memoryNetwork is a network for many concurrent deliveries. It has no idempotency: a post committed twice is published
// twice.
type memoryNetwork struct {
	platform string
	onCommit func(ctx context.Context) (published bool, err error) // called by Commit; nil publishes

	mu     sync.Mutex
	copies map[string]int // number of posts, by draft
}

// postCount returns the number of different drafts that were published.
func (n *memoryNetwork) postCount() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.copies)
}

// maxCopies returns the highest number of posts of one draft.
func (n *memoryNetwork) maxCopies() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	highest := 0
	for _, times := range n.copies {
		highest = max(highest, times)
	}
	return highest
}

func (n *memoryNetwork) Platform() string { return n.platform }
func (n *memoryNetwork) Rules() network.Rules {
	return network.Rules{Title: n.platform, Thread: true}
}
func (n *memoryNetwork) Check(network.Content) []network.Problem { return nil }
func (n *memoryNetwork) Plan(i network.Submission) (network.Draft, error) {
	return json.Marshal(i.Seed)
}
func (n *memoryNetwork) Refresh(_ context.Context, g network.Grant) (network.Grant, error) {
	return g, nil
}

func (n *memoryNetwork) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{Account: "did:test:1", Username: "harbour.test"}, nil
}

func (n *memoryNetwork) Prepare(_ context.Context, _ network.Grant, d network.Draft,
	_ network.Files) (network.Draft, time.Duration, error) {
	return d, 0, nil
}

func (n *memoryNetwork) Commit(ctx context.Context, _ network.Grant, d network.Draft,
	_ network.Files) (network.Receipt, error) {
	published, err := true, error(nil)
	if n.onCommit != nil {
		published, err = n.onCommit(ctx)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if published {
		if n.copies == nil {
			n.copies = map[string]int{}
		}
		n.copies[string(d)]++
	}
	return network.Receipt{ID: "1", Permalink: "https://example.test/1"}, err
}

func (n *memoryNetwork) Resolve(_ context.Context, _ network.Grant, d network.Draft,
	_ network.CommitHistory) (network.Verdict, network.Receipt, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.copies[string(d)] > 0 {
		return network.Published, network.Receipt{ID: "1", Permalink: "https://example.test/1"}, nil
	}
	return network.Absent, network.Receipt{}, nil
}

func (n *memoryNetwork) Permalink(context.Context, network.Grant, network.Receipt) (string, error) {
	return "", errors.New("unexpected call of Permalink")
}

// multiEnv is a service for several teams, each with one account on every network.
type multiEnv struct {
	*Service
	tools map[string]operation.Operation
	calls []operation.Call // of each team's owner
	ids   [][]int64        // each team's accounts, in the order of the networks
}

func newMultiEnv(tb testing.TB, d *db.DB, teams int, opts Options, networks ...network.Network) *multiEnv {
	tb.Helper()
	ctx := tb.Context()
	key := must.Get(tokencrypt.NewKey())(tb)
	sealer := must.Get(tokencrypt.New(key))(tb)
	log := slog.New(slog.DiscardHandler)
	must.NoError(tb, job.MigrateQueue(ctx, d, log))
	queue := must.Get(job.NewQueue(d, 16, log))(tb)
	teamStore := team.New(d, nil, plan.Default())
	owner := must.Get(teamStore.AddPerson(ctx, "Ada", "ada@example.com", ""))(tb)
	accounts := account.New(d, sealer, nil, networks...)
	posts := post.New(d, accounts, job.NewStore(d, map[job.Type]job.Result{job.SocialPost: Result}, 5),
		noLibrary{}, NewSubmitter(queue), post.DefaultLimits, plan.Default())
	p := &multiEnv{Service: New(d, posts, accounts, noLibrary{}, queue, opts, log),
		tools: map[string]operation.Operation{}}
	for n := range teams {
		newTeam := must.Get(teamStore.AddTeam(ctx, team.Team{Name: fmt.Sprint("Harbour ", n), Timezone: "UTC", Language: "en",
			Plan: "agency"}, owner.ID))(tb)
		p.calls = append(p.calls, operation.Call{Actor: &access.Actor{TeamID: newTeam.ID, PersonID: owner.ID,
			Zone: time.UTC, Plan: "agency", Language: "en", Capabilities: access.EffectiveCapabilities(access.Full, access.Owner)}})
		ids := []int64{}
		for _, net := range networks {
			a := must.Get(accounts.Connect(ctx, newTeam.ID, net.Platform(), network.Credentials{}))(tb)
			ids = append(ids, a.ID)
		}
		p.ids = append(p.ids, ids)
	}
	for _, op := range posts.Operations() {
		p.tools[op.Tool] = op
	}
	return p
}

// scheduleDue creates posts for one account of a team, all due now.
func (p *multiEnv) scheduleDue(tb testing.TB, team, net, count int) {
	tb.Helper()
	raw := fmt.Appendf(nil, `{"caption":"hello","account_ids":[%d]}`, p.ids[team][net])
	create := p.tools["create_post"]
	must.NoError(tb, p.db.InTx(tb.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		for range count {
			call := p.calls[team]
			call.Now, call.Tx = tx.Now(), tx
			if _, err := create.Run(ctx, call, raw); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `UPDATE posts SET status = 'scheduled', scheduled_at = ? WHERE status = 'draft'`,
			db.Micros(tx.Now()))
		return err
	}))
}

// start runs the waker and the workers until the returned function is called.
func (p *multiEnv) start(tb testing.TB) func() {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	waker := p.NewWaker()
	var tasks sync.WaitGroup
	tasks.Go(func() { waker.Run(ctx, func(err error) { tb.Error(err) }) })
	tasks.Go(func() { p.Run(ctx) })
	must.NoError(tb, p.queue.Start(ctx))
	return func() {
		if err := errors.Join(p.queue.Stop(context.Background()), p.Drain(context.Background())); err != nil {
			tb.Error(err)
		}
		stop()
		tasks.Wait()
	}
}

// waitUntil waits up to 30 seconds until a condition is true.
func (p *multiEnv) waitUntil(tb testing.TB, condition func() bool) {
	tb.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(30 * time.Second); !condition(); {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatal("the condition was not met within 30 seconds")
		}
	}
}

// countOpen returns the number of unfinished due posts.
func (p *multiEnv) countOpen(tb testing.TB) int {
	tb.Helper()
	var n int
	must.NoError(tb, p.db.QueryRow(tb.Context(), `SELECT COUNT(*) FROM posts WHERE status IN ('scheduled',
		'processing')`).Scan(&n))
	return n
}
