// Package posttest provides an environment for tests of posts, with an in-process network.
package posttest

import (
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/due"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Noon is Saturday noon in Berlin.
var Noon = time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)

// Day is 24 hours.
const Day = 24 * time.Hour

// Network is a network that accepts all content without the word forbidden.
type Network struct{ network.Network }

// Platform implements network.Network.
func (Network) Platform() string { return "bluesky" }

// Connect implements network.Network. It connects one account.
func (Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{Account: "did:test:1", Username: "harbour.test"}, nil
}

// Check implements network.Network. It rejects the word forbidden.
func (Network) Check(c network.Content) []network.Problem {
	if strings.Contains(c.Text, "forbidden") {
		return []network.Problem{{Code: "caption_too_long", Blocking: true, Message: "No."}}
	}
	return nil
}

// Deliveries is a post.Submitter that publishes immediately without a network.
type Deliveries struct {
	mu   sync.Mutex
	sent []string // captions
}

// Submit implements post.Submitter.
func (d *Deliveries) Submit(ctx context.Context, tx *db.Tx, posts *post.Service, order post.Submission) error {
	for _, t := range order.Targets {
		r := post.Result{State: post.TargetFailed, ErrorCode: order.RejectionCode}
		if order.RejectionCode == "" {
			r = post.Result{State: post.TargetPublished, PublishedAt: tx.Now()}
			d.mu.Lock()
			d.sent = append(d.sent, order.Post.Content(t, "en").Text)
			d.mu.Unlock()
		}
		if _, _, err := posts.RecordResult(ctx, tx, order.Post.TeamID, order.Post.ID, t.AccountID, r); err != nil {
			return err
		}
	}
	return nil
}

// Captions returns the captions of the published posts, in order.
func (d *Deliveries) Captions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.sent)
}

type emptyLibrary struct{}

func (l emptyLibrary) ForPostWithDeleted(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error) {
	return l.ForPost(ctx, q, team, ids)
}

func (emptyLibrary) ForPost(context.Context, db.Querier, int64, []int64) ([]network.Media, error) {
	return nil, nil
}

// Env has a team with one account, and the services of one node.
type Env struct {
	*post.Service

	Approvals  *approval.Service
	Teams      *team.Service
	DB         *db.DB
	Clock      *testkit.Clock
	URL        string
	Sealer     *tokencrypt.Sealer
	Deliveries *Deliveries
	Call       operation.Call
	Person     int64
	Account    int64

	tools map[string]operation.Operation
}

// EachDatabase runs a test with a new Env on each database. The plan team allows four posts a month.
func EachDatabase(t *testing.T, run func(t *testing.T, w *Env)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(Noon)
		key := must.Get(tokencrypt.NewKey())(t)
		sealer := must.Get(tokencrypt.New(key))(t)
		w := New(t, url, clock, sealer)
		must.NoError(t, job.MigrateQueue(t.Context(), w.DB, slog.New(slog.DiscardHandler)))
		ada := must.Get(w.Teams.AddPerson(t.Context(), "Ada", "ada@example.com", ""))(t)
		made := must.Get(w.Teams.AddTeam(t.Context(), team.Team{Name: "Harbour & Sons", Timezone: "Europe/Berlin",
			Language: "en", Plan: "agency"}, ada.ID))(t)
		w.Person, w.Call.Actor = ada.ID, &access.Actor{TeamID: made.ID, PersonID: ada.ID, Plan: "agency",
			Language: "en", Capabilities: access.EffectiveCapabilities(access.Full, access.Owner)}
		w.Call.Zone = must.Get(time.LoadLocation("Europe/Berlin"))(t)
		connected := must.Get(account.New(w.DB, sealer, nil, Network{}).Connect(t.Context(), made.ID, "bluesky",
			network.Credentials{}))(t)
		w.Account = connected.ID
		run(t, w)
	})
}

// New returns an Env with the services of another node on a database. It has no team.
func New(t *testing.T, url string, clock *testkit.Clock, sealer *tokencrypt.Sealer) *Env {
	t.Helper()
	offered := plan.Default()
	for i := range offered.Plans {
		if offered.Plans[i].ID == "team" {
			offered.Plans[i].PostsPerMonth = 4
		}
	}
	d := testkit.Open(t, url, clock)
	w := &Env{DB: d, Clock: clock, URL: url, Sealer: sealer, Teams: team.New(d, nil, offered),
		Deliveries: &Deliveries{}}
	w.SetService(post.New(d, account.New(d, sealer, nil, Network{}), job.NewStore(d, nil, 100), emptyLibrary{},
		w.Deliveries, post.DefaultLimits, offered))
	w.Approvals = approval.New(approval.Options{DB: d, Posts: w.Service, Sealer: sealer,
		PublicURL: "https://press.example"})
	return w
}

// SetService replaces the service and its operations.
func (w *Env) SetService(s *post.Service) {
	w.Service, w.tools = s, map[string]operation.Operation{}
	for _, op := range s.Operations() {
		w.tools[op.Tool] = op
	}
}

// Try runs an operation and returns its result and error.
func (w *Env) Try(t *testing.T, tool string, args map[string]any) (operation.Result, error) {
	t.Helper()
	raw := must.Get(json.Marshal(args))(t)
	op := w.tools[tool]
	call := w.Call
	call.Now, call.Operation = w.Clock.Now(), tool
	return op.Run(t.Context(), call, raw)
}

// Do runs an operation that must succeed and returns its data.
func (w *Env) Do(t *testing.T, tool string, args map[string]any) map[string]any {
	t.Helper()
	out, err := w.Try(t, tool, args)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	raw := must.Get(json.Marshal(out.Data))(t)
	var data map[string]any
	must.NoError(t, json.Unmarshal(raw, &data))
	return data
}

// ExpectError runs an operation and checks the error code and context.state of its error.
func (w *Env) ExpectError(t *testing.T, code apierr.Code, state, tool string, args map[string]any) {
	t.Helper()
	_, err := w.Try(t, tool, args)
	CheckError(t, err, code, state)
}

// CheckError checks the code and context.state of an error.
func CheckError(t *testing.T, err error, code apierr.Code, state string) {
	t.Helper()
	got, _ := apierr.FromError(err).Context["state"].(string)
	if err == nil || apierr.FromError(err).Code != code || got != state {
		t.Errorf("error %v with state %q, want code %s with state %q", err, got, code, state)
	}
}

// Draft creates a draft and returns its ID. The planned time may be zero.
func (w *Env) Draft(t *testing.T, caption string, at time.Time) string {
	t.Helper()
	id, _ := w.Do(t, "create_post", map[string]any{"caption": caption,
		"account_ids": []int64{w.Account}})["id"].(string)
	if !at.IsZero() {
		w.Do(t, "update_post", map[string]any{"id": id, "scheduled_at": at.Format(time.RFC3339)})
	}
	return id
}

// Status returns the status, approval and first account's error code of a post, separated by spaces. It omits an
// approval that is not needed and an empty error code.
func (w *Env) Status(t *testing.T, id string) string {
	t.Helper()
	data := w.Do(t, "get_post", map[string]any{"id": id})
	account, _ := data["accounts"].([]any)[0].(map[string]any)
	parts := []string{}
	for _, text := range []any{data["status"], data["approval"], account["error_code"]} {
		if s, _ := text.(string); s != "" && s != "not_needed" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// Tick runs a node's background work once: it creates occurrences and releases due posts.
func (w *Env) Tick(t *testing.T) {
	t.Helper()
	for range 2 { // An occurrence that was created late is due immediately.
		must.NoError(t, w.CreateOccurrences(t.Context()))
		ids := must.Get(due.List(t.Context(), w.DB, 100))(t)
		for _, id := range ids {
			must.NoError(t, w.Release(t.Context(), id))
		}
	}
}

// SeriesPosts returns the day, hour and status of all occurrences, in Berlin's time zone.
func (w *Env) SeriesPosts(t *testing.T) string {
	t.Helper()
	rows := must.Get(db.All(t.Context(), w.DB, func(rows *sql.Rows, text *string) error {
		var at int64
		err := rows.Scan(&at, text)
		*text = db.Time(at).In(w.Call.Zone).Format("02T15 ") + *text
		return err
	}, `SELECT occurs_at, status FROM posts WHERE occurs_at > 0 ORDER BY series_id, occurs_at`))(t)
	return strings.Join(rows, ", ")
}

// LastOccurrence returns the ID of the newest occurrence.
func (w *Env) LastOccurrence(t *testing.T) string {
	t.Helper()
	var id string
	must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT id FROM posts WHERE occurs_at > 0 ORDER BY occurs_at DESC
		LIMIT 1`).Scan(&id))
	return id
}

// CountEvents counts events of a kind.
func (w *Env) CountEvents(t *testing.T, kind string) int {
	t.Helper()
	var n int
	must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT COUNT(*) FROM events WHERE kind = ?`, kind).Scan(&n))
	return n
}

// WantSent checks the captions of all published posts.
func (w *Env) WantSent(t *testing.T, captions ...string) {
	t.Helper()
	if sent := w.Deliveries.Captions(); !slices.Equal(sent, captions) {
		t.Errorf("sent %q, want %q", sent, captions)
	}
}

// RequestApproval requests approval of a post and returns the token of the link.
func (w *Env) RequestApproval(t *testing.T, id string) string {
	t.Helper()
	link := must.Get(w.Approvals.Request(t.Context(), w.Person, id))(t)
	token, ok := strings.CutPrefix(link, "https://press.example/approval/")
	if !ok {
		t.Fatal("unexpected approval link: " + link)
	}
	return token
}

// Proposal returns the first post that a link shows.
func (w *Env) Proposal(t *testing.T, token string) (approval.Proposal, error) {
	t.Helper()
	shown, err := w.Approvals.Show(t.Context(), token)
	if err != nil {
		return approval.Proposal{}, err
	}
	return shown.Proposals[0], nil
}

// Decide decides on the current version of a link's first post.
func (w *Env) Decide(t *testing.T, token string, approve bool) error {
	t.Helper()
	p := must.Get(w.Proposal(t, token))(t)
	decision := approval.Decision{Round: p.Round, Approve: approve, Name: "Cleo"}
	if !approve {
		decision.Comment = "Not yet."
	}
	return w.Approvals.Decide(t.Context(), token, decision)
}

// StartSeries creates a series that begins in an hour and returns the ID of its template.
func (w *Env) StartSeries(t *testing.T, rule string) string {
	t.Helper()
	id := w.Draft(t, "hello", Noon.Add(time.Hour))
	must.Get(w.Repeat(t.Context(), w.Person, id, rule, nil))(t)
	return id
}

// Exec executes a statement on the database.
func (w *Env) Exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	must.NoError(t, w.DB.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}
