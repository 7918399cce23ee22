package post_test

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

	"pressroom/internal/apierr"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/team"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

// noon is a Saturday's in Berlin.
var noon = time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// fakeNetwork is a network that takes everything but one word.
type fakeNetwork struct{ network.Network }

func (fakeNetwork) Platform() string { return "bluesky" }

func (fakeNetwork) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{Account: "did:test:1", Username: "harbour.test"}, nil
}

func (fakeNetwork) Check(c network.Content) []network.Problem {
	if strings.Contains(c.Text, "forbidden") {
		return []network.Problem{{Code: "caption_too_long", Blocking: true, Message: "No."}}
	}
	return nil
}

// deliveryRecorder is a delivery that publishes everything at once that is not refused.
type deliveryRecorder struct {
	mu   sync.Mutex
	sent []string // captions
}

func (o *deliveryRecorder) Submit(ctx context.Context, tx *db.Tx, posts *post.Service, order post.Order) error {
	for _, t := range order.Targets {
		r := post.Result{State: post.TargetFailed, ErrorCode: order.Refused}
		if order.Refused == "" {
			r = post.Result{State: post.TargetPublished, PublishedAt: tx.Now()}
			o.mu.Lock()
			o.sent = append(o.sent, order.Post.Content(t, "en").Text)
			o.mu.Unlock()
		}
		if err := posts.RecordResult(ctx, tx, order.Post.TeamID, order.Post.ID, t.AccountID, r); err != nil {
			return err
		}
	}
	return nil
}

type emptyLibrary struct{}

func (l emptyLibrary) ForPostWithDeleted(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error) {
	return l.ForPost(ctx, q, team, ids)
}

func (emptyLibrary) ForPost(context.Context, db.Querier, int64, []int64) ([]network.Media, error) {
	return nil, nil
}

// env is a team with one account, and the posts of a node.
type env struct {
	*post.Service

	approvals *post.Approvals
	teams     *team.Service
	db        *db.DB
	clock     *testkit.Clock
	url       string
	sealer    *tokencrypt.Sealer
	box       *deliveryRecorder
	call      operation.Call
	person    int64
	account   int64
	tools     map[string]operation.Operation
}

// eachDatabase runs a test in a fresh world on each database. The plan team has four posts a month.
func eachDatabase(t *testing.T, run func(t *testing.T, w *env)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		key := must.Get(tokencrypt.NewKey())(t)
		sealer := must.Get(tokencrypt.New(key))(t)
		w := newEnv(t, url, clock, sealer)
		must.NoError(t, job.MigrateQueue(t.Context(), w.db, slog.New(slog.DiscardHandler)))
		ada := must.Get(w.teams.AddPerson(t.Context(), "Ada", "ada@example.com", ""))(t)
		made := must.Get(w.teams.AddTeam(t.Context(), team.Team{Name: "Harbour & Sons", Timezone: "Europe/Berlin",
			Language: "en", Plan: "agency"}, ada.ID))(t)
		w.person, w.call.Actor = ada.ID, &access.Actor{TeamID: made.ID, PersonID: ada.ID, Plan: "agency",
			Language: "en", Capabilities: access.Effective(access.Full, access.Owner)}
		w.call.Zone = must.Get(time.LoadLocation("Europe/Berlin"))(t)
		connected := must.Get(account.New(w.db, sealer, nil, fakeNetwork{}).Connect(t.Context(), made.ID, "bluesky",
			network.Credentials{}))(t)
		w.account = connected.ID
		run(t, w)
	})
}

// newEnv is the program's posts on a database, as one process has them.
func newEnv(t *testing.T, url string, clock *testkit.Clock, sealer *tokencrypt.Sealer) *env {
	t.Helper()
	offered := plan.Default()
	for i := range offered.Plans {
		if offered.Plans[i].ID == "team" {
			offered.Plans[i].PostsPerMonth = 4
		}
	}
	d := testkit.Open(t, url, clock)
	w := &env{db: d, clock: clock, url: url, sealer: sealer, teams: team.New(d, nil, offered),
		tools: map[string]operation.Operation{}}
	w.box = &deliveryRecorder{}
	w.Service = post.New(d, account.New(d, sealer, nil, fakeNetwork{}), job.NewStore(d, nil, 100), emptyLibrary{}, w.box,
		post.DefaultLimits, offered)
	w.approvals = post.NewApprovals(post.ApprovalsOptions{Posts: w.Service, Sealer: sealer,
		PublicURL: "https://press.example"})
	for _, op := range w.Operations() {
		w.tools[op.Tool] = op
	}
	return w
}

// try runs an operation as the pipeline would.
func (w *env) try(t *testing.T, tool string, args map[string]any) (operation.Result, error) {
	t.Helper()
	raw := must.Get(json.Marshal(args))(t)
	op := w.tools[tool]
	call := w.call
	call.Now, call.Operation = w.clock.Now(), tool
	return op.Run(t.Context(), call, raw)
}

// do runs an operation that has to succeed, and gives its data.
func (w *env) do(t *testing.T, tool string, args map[string]any) map[string]any {
	t.Helper()
	out, err := w.try(t, tool, args)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	raw := must.Get(json.Marshal(out.Data))(t)
	var data map[string]any
	must.NoError(t, json.Unmarshal(raw, &data))
	return data
}

// expectError runs an operation that has to be refused by a code, and with it a state where that is wrong.
func (w *env) expectError(t *testing.T, code apierr.Code, state, tool string, args map[string]any) {
	t.Helper()
	_, err := w.try(t, tool, args)
	checkError(t, err, code, state)
}

func checkError(t *testing.T, err error, code apierr.Code, state string) {
	t.Helper()
	got, _ := apierr.Of(err).Context["state"].(string)
	if err == nil || apierr.Of(err).Code != code || got != state {
		t.Errorf("%v in the state %q, want %s and %q", err, got, code, state)
	}
}

// draft makes a draft with a wished time, none where it is zero.
func (w *env) draft(t *testing.T, caption string, at time.Time) string {
	t.Helper()
	id, _ := w.do(t, "create_post", map[string]any{"caption": caption,
		"account_ids": []int64{w.account}})["id"].(string)
	if !at.IsZero() {
		w.do(t, "update_post", map[string]any{"id": id, "scheduled_at": at.Format(time.RFC3339)})
	}
	return id
}

// status is how a post stands: its status, its approval, and the error code of its account where it has one.
func (w *env) status(t *testing.T, id string) string {
	t.Helper()
	data := w.do(t, "get_post", map[string]any{"id": id})
	account, _ := data["accounts"].([]any)[0].(map[string]any)
	parts := []string{}
	for _, text := range []any{data["status"], data["approval"], account["error_code"]} {
		if s, _ := text.(string); s != "" && s != "not_needed" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// tick does what a node does by itself: it lets series go on and releases what is due.
func (w *env) tick(t *testing.T) {
	t.Helper()
	for range 2 { // what is made late is due at once
		must.NoError(t, w.CreateOccurrences(t.Context()))
		due := must.Get(w.Due(t.Context(), 100))(t)
		for _, id := range due {
			must.NoError(t, w.Release(t.Context(), id))
		}
	}
}

// occurrences are the posts of a series as day, hour and status, in Berlin's time.
func (w *env) occurrences(t *testing.T) string {
	t.Helper()
	rows := must.Get(db.All(t.Context(), w.db, func(rows *sql.Rows, text *string) error {
		var at int64
		err := rows.Scan(&at, text)
		*text = db.Time(at).In(w.call.Zone).Format("02T15 ") + *text
		return err
	}, `SELECT occurs_at, status FROM posts WHERE occurs_at > 0 ORDER BY series_id, occurs_at`))(t)
	return strings.Join(rows, ", ")
}

// occurrence is the id of the last one that was made.
func (w *env) occurrence(t *testing.T) string {
	t.Helper()
	var id string
	must.NoError(t, w.db.QueryRow(t.Context(), `SELECT id FROM posts WHERE occurs_at > 0 ORDER BY occurs_at DESC
		LIMIT 1`).Scan(&id))
	return id
}

// countEvents counts events of a kind.
func (w *env) countEvents(t *testing.T, kind string) int {
	t.Helper()
	var n int
	must.NoError(t, w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM events WHERE kind = ?`, kind).Scan(&n))
	return n
}

func (w *env) wantSent(t *testing.T, captions ...string) {
	t.Helper()
	w.box.mu.Lock()
	defer w.box.mu.Unlock()
	if !slices.Equal(w.box.sent, captions) {
		t.Errorf("sent %q, want %q", w.box.sent, captions)
	}
}
