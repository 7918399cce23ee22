package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"
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
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// step is the scripted result of one call.
type step struct {
	class            network.ErrorClass // class of the error; empty if the call succeeds
	code             string             // code of the error; "Scripted" if empty
	effect           bool               // the call took effect despite the error
	after            time.Duration      // wait that the error asks for
	during           func()             // called during the call
	verdict          network.Verdict    // for Resolve; Unknown also returns an error
	wait             time.Duration      // for Prepare: how long to wait before the next Prepare
	noPermalink      bool               // for Commit: returns no permalink
	permalink        string             // for Permalink
	matchedByContent bool               // for Resolve: the post was found by its content
	hidden           bool               // the network has the post but does not show it; the error has another draft
}

// scriptedNetwork is a network without idempotency, so every commit with an effect creates another post. Each method
// follows its script. After the end of its script, a method succeeds.
type scriptedNetwork struct {
	histories                                          []network.CommitHistory // arguments of each Resolve
	callOrder                                          string                  // C for each Commit, R for each Resolve
	preparedDrafts                                     []string                // arguments of each Prepare
	clock                                              *testkit.Clock
	prepares, commits, resolves, refreshes, permalinks []step
	prepareCalls, commitCalls, resolveCalls            int
	refreshCalls, permalinkCalls                       int
	posts                                              int
	finishSteps                                        []string             // steps after the publication
	finishScripts                                      map[string][]step    // scripts of the steps, by name
	finishCalls                                        []string             // names of the steps that were called, in order
	finishedPostID                                     string               // ID of the post in the last Finish
	truthful                                           bool                 // without a script, Resolve reports whether a post exists
	plans                                              []network.Submission // arguments of each Plan
}

func next(script *[]step) (step, bool) {
	if len(*script) == 0 {
		return step{}, false
	}
	s := (*script)[0]
	*script = (*script)[1:]
	return s, true
}

func (n *scriptedNetwork) fail(s step) error {
	if s.during != nil {
		s.during()
	}
	if s.class == "" {
		return nil
	}
	e := &network.Error{Class: s.class, Code: cmp.Or(s.code, "Scripted"), Message: "scripted error"}
	if s.hidden {
		e.Hidden, e.Draft = network.Receipt{ID: "1", Permalink: "https://example.test/1"}, network.Draft(`"hidden"`)
	}
	if s.after > 0 {
		e.RetryAt = n.clock.Now().Add(s.after)
	}
	return e
}

func (n *scriptedNetwork) Platform() string                        { return "bluesky" }
func (n *scriptedNetwork) Check(network.Content) []network.Problem { return nil }

// Rules allow threads.
func (n *scriptedNetwork) Rules() network.Rules { return network.Rules{Title: "Bluesky", Thread: true} }

func (n *scriptedNetwork) Plan(i network.Submission) (network.Draft, error) {
	n.plans = append(n.plans, i)
	return json.Marshal(i.Content.Text)
}

func (n *scriptedNetwork) Prepare(_ context.Context, _ network.Grant, d network.Draft,
	_ network.Files) (network.Draft, time.Duration, error) {
	n.prepareCalls++
	n.preparedDrafts = append(n.preparedDrafts, string(d))
	s, _ := next(&n.prepares)
	return d, s.wait, n.fail(s)
}

func (n *scriptedNetwork) Commit(context.Context, network.Grant, network.Draft,
	network.Files) (network.Receipt, error) {
	n.commitCalls++
	n.callOrder += "C"
	s, scripted := next(&n.commits)
	if s.effect || s.class == "" || !scripted {
		n.posts++
	}
	receipt := n.receipt()
	if s.noPermalink {
		receipt.Permalink = ""
	}
	return receipt, n.fail(s)
}

// receipt returns the receipt of the last post.
func (n *scriptedNetwork) receipt() network.Receipt {
	id := strconv.Itoa(max(1, n.posts))
	return network.Receipt{ID: id, Permalink: "https://example.test/" + id}
}

func (n *scriptedNetwork) Permalink(context.Context, network.Grant, network.Receipt) (string, error) {
	n.permalinkCalls++
	s, scripted := next(&n.permalinks)
	if !scripted {
		s.permalink = "https://example.test/late"
	}
	return s.permalink, n.fail(s)
}

func (n *scriptedNetwork) FinishSteps(network.Draft) []string { return n.finishSteps }

func (n *scriptedNetwork) PostID(_ network.Draft, permalink string) string {
	_, id, _ := strings.Cut(permalink, "/post/")
	return id
}

func (n *scriptedNetwork) Finish(_ context.Context, _ network.Grant, _ network.Draft, id, name string,
	_ network.Files) error {
	n.finishCalls, n.finishedPostID = append(n.finishCalls, name), id
	script := n.finishScripts[name]
	s, _ := next(&script)
	if n.finishScripts != nil {
		n.finishScripts[name] = script
	}
	return n.fail(s)
}

func (n *scriptedNetwork) Resolve(_ context.Context, _ network.Grant, _ network.Draft,
	t network.CommitHistory) (network.Verdict, network.Receipt, error) {
	n.resolveCalls++
	n.callOrder += "R"
	n.histories = append(n.histories, t)
	s, scripted := next(&n.resolves)
	receipt := n.receipt()
	receipt.At, receipt.MatchedByContent = n.clock.Now(), s.matchedByContent
	switch {
	case !scripted && n.truthful && n.posts > 0:
		return network.Published, receipt, nil
	case !scripted && n.truthful:
		return network.Absent, receipt, nil
	case !scripted || s.verdict == network.Unknown && s.class == "":
		return network.Unknown, receipt, n.fail(step{class: network.Transient})
	}
	return s.verdict, receipt, n.fail(s)
}

func (n *scriptedNetwork) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{Account: "did:test:1", Username: "harbour.test"}, nil
}

func (n *scriptedNetwork) Refresh(_ context.Context, g network.Grant) (network.Grant, error) {
	n.refreshCalls++
	s, _ := next(&n.refreshes)
	return g, n.fail(s)
}

// env is a service with a post that is due on a scripted network.
type env struct {
	*Service
	net   *scriptedNetwork
	clock *testkit.Clock
	db    *db.DB
	call  operation.Call
	post  string
	job   string
	tools map[string]operation.Operation
}

// failer is a test or a property.
type failer interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Helper()
}

// newEnv returns an env. The post is a thread if there are parts.
func newEnv(t failer, d *db.DB, clock *testkit.Clock, n *scriptedNetwork, parts ...string) *env {
	t.Helper()
	thread := []map[string]any{}
	for _, text := range parts {
		thread = append(thread, map[string]any{"caption": text})
	}
	return newEnvWith(t, d, clock, n, map[string]any{"thread": thread})
}

// newEnvWith returns an env whose post also has the given fields.
func newEnvWith(t failer, d *db.DB, clock *testkit.Clock, n *scriptedNetwork, fields map[string]any) *env {
	t.Helper()
	n.clock = clock
	ctx := context.Background()
	key := must.Get(tokencrypt.NewKey())(t)
	sealer := must.Get(tokencrypt.New(key))(t)
	log := slog.New(slog.DiscardHandler)
	must.NoError(t, job.MigrateQueue(ctx, d, log))
	queue := must.Get(job.NewQueue(d, 1, log))(t)
	teams := team.New(d, nil, plan.Default())
	owner := must.Get(teams.AddPerson(ctx, "Ada", key+"@example.com", ""))(t)
	newTeam := must.Get(teams.AddTeam(ctx, team.Team{Name: "Harbour", Timezone: "UTC", Language: "en", Plan: "agency"},
		owner.ID))(t)
	accounts := account.New(d, sealer, nil, n)
	account := must.Get(accounts.Connect(ctx, newTeam.ID, "bluesky", network.Credentials{}))(t)
	posts := post.New(d, accounts, job.NewStore(d, map[job.Type]job.Result{job.SocialPost: Result}, 5),
		noLibrary{}, NewSubmitter(queue), post.DefaultLimits, plan.Default())
	s := &env{Service: New(d, posts, accounts, noLibrary{}, queue, DefaultOptions, log), net: n, clock: clock, db: d,
		tools: map[string]operation.Operation{}}
	s.call = operation.Call{Now: clock.Now(), Actor: &access.Actor{TeamID: newTeam.ID, PersonID: owner.ID,
		Zone: time.UTC, Plan: "agency", Language: "en", Capabilities: access.EffectiveCapabilities(access.Full, access.Owner)}}
	for _, op := range posts.Operations() {
		s.tools[op.Tool] = op
	}
	fields["caption"], fields["account_ids"] = "hello", []int64{account.ID}
	s.post = s.do(t, "create_post", fields)["id"].(string)
	s.job = s.do(t, "publish_post", map[string]any{"post_id": s.post})["job_id"].(string)
	return s
}

// do runs an operation like the pipeline and returns its data.
func (s *env) do(t failer, tool string, args map[string]any) map[string]any {
	t.Helper()
	raw := must.Get(json.Marshal(args))(t)
	op := s.tools[tool]
	s.call.Now = s.clock.Now()
	out, err := op.Run(context.Background(), s.call, raw)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var data map[string]any
	raw, err = json.Marshal(out.Data)
	if err == nil {
		err = json.Unmarshal(raw, &data)
	}
	must.NoError(t, err)
	return data
}

// deliver sends the post as the queue and the waker do. It moves the clock from wake to wake until the post has ended
// or the given time has passed.
func (s *env) deliver(t failer, within time.Duration) {
	t.Helper()
	end := s.clock.Now().Add(within)
	for s.deliverDue(t) > 0 {
		var wake int64
		err := s.db.QueryRow(context.Background(), `SELECT MIN(wake_at) FROM deliveries WHERE post_id = ?
			AND phase <> 'ended'`, s.post).Scan(&wake)
		if err != nil {
			return // The post has ended.
		}
		// A lease that expires now has expired a moment later.
		s.clock.Advance(max(0, db.Time(wake).Sub(s.clock.Now())) + time.Millisecond)
		if s.clock.Now().After(end) {
			return
		}
	}
}

// deliverDue makes one attempt for each unfinished delivery and returns their number.
func (s *env) deliverDue(t failer) int {
	t.Helper()
	ids := must.Get(db.All(context.Background(), s.db, scanText, `SELECT id FROM deliveries WHERE post_id = ?
		AND phase <> 'ended'`, s.post))(t)
	for _, id := range ids {
		if err := s.Deliver(context.Background(), id); err != nil && !errors.Is(err, errLeaseLost) {
			t.Fatal(err)
		}
	}
	return len(ids)
}

// outcome is the state of the post's only account and its job.
type outcome struct {
	state, code, status, jobState, jobCode string
}

func (s *env) outcome(t failer) outcome {
	t.Helper()
	data := s.do(t, "get_post", map[string]any{"id": s.post})
	account := data["accounts"].([]any)[0].(map[string]any)
	r := must.Get(job.Get(context.Background(), s.db, s.call.TeamID, s.job))(t)
	code, _ := account["error_code"].(string)
	return outcome{account["state"].(string), code, data["status"].(string), string(r.State), r.ErrorCode}
}

func (s *env) active(t *testing.T) bool {
	t.Helper()
	var state string
	must.NoError(t, s.db.QueryRow(t.Context(), `SELECT connection_state FROM social_accounts`).Scan(&state))
	return state == "connected"
}

// noLibrary is a media library without files.
type noLibrary struct{}

func (noLibrary) Files(int64) network.Files { return nil }

func (l noLibrary) ForPostWithDeleted(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error) {
	return l.ForPost(ctx, q, team, ids)
}

func (noLibrary) ForPost(context.Context, db.Querier, int64, []int64) ([]network.Media, error) {
	return nil, nil
}
