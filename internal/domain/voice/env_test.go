package voice

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var rewrite = flag.Bool("update", false, "write the text blocks of testdata anew")

func TestMain(m *testing.M) {
	// rapid only reads its flags
	for name, value := range map[string]string{"rapid.checks": "100", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	m.Run()
}

var start = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// env is a voice service on a fresh database with one team.
type env struct {
	*Service

	t     *testing.T
	url   string
	clock *testkit.Clock
	call  operation.Call // of the owner, in the app
}

func forEachDatabase(t *testing.T, run func(w env)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(start)
		w := env{Service: New(Options{DB: testkit.Open(t, url, clock)}), t: t, url: url, clock: clock}
		w.call = w.newTeam("ada@harbour.example", "de")
		run(w)
	})
}

// newTeam returns a call by the owner of a new team.
func (w env) newTeam(email, language string) operation.Call {
	w.t.Helper()
	teams := team.New(w.db, nil, plan.Default())
	owner, err := teams.AddPerson(w.t.Context(), "Ada", email, "")
	w.must(err)
	made, err := teams.AddTeam(w.t.Context(), team.Team{Name: "Harbour", Timezone: "Europe/Berlin", Language: language,
		Plan: "agency"}, owner.ID)
	w.must(err)
	actor := access.Actor{TeamID: made.ID, PersonID: owner.ID, Role: access.Owner,
		Capabilities: access.RoleCapabilities(access.Owner), Zone: time.UTC, Language: language, Plan: "agency"}
	return operation.Call{Actor: &actor, RequestID: "r1", Now: w.clock.Now()}
}

// callAs returns a call with another role, or by an API key unless key is 0.
func callAs(call operation.Call, role access.Role, key int64) operation.Call {
	actor := *call.Actor
	actor.Role, actor.KeyID, actor.Level = role, key, access.Full
	actor.Capabilities = actor.BaseCapabilities()
	call.Actor = &actor
	return call
}

func (w env) must(err error) {
	w.t.Helper()
	must.NoError(w.t, err)
}

// mustReject fails unless an error has the code and, for a validation error, the reason.
func (w env) mustReject(err error, code apierr.Code, reason, argument string) {
	w.t.Helper()
	got := apierr.FromError(err)
	if err == nil || got.Code != code || reason != "" && got.Context["reason"] != reason || argument != "" &&
		got.Context["argument"] != argument {
		w.t.Errorf("got %v %v, want %s %s %s", err, got.Context, code, reason, argument)
	}
}

func draftNamed(name string) Draft { return Draft{Name: name} }

// make creates a voice.
func (w env) make(name string) int64 {
	w.t.Helper()
	made, err := w.Create(w.t.Context(), w.call, draftNamed(name))
	w.must(err)
	return made.ID
}

// callOperation calls an operation as clients do.
func (w env) callOperation(call operation.Call, tool, args string) (operation.Result, error) {
	w.t.Helper()
	ops := w.Operations()
	i := slices.IndexFunc(ops, func(op operation.Operation) bool { return op.Tool == tool })
	return ops[i].Run(w.t.Context(), call, []byte(args))
}

func (w env) mustList(call operation.Call) BrandVoiceList {
	w.t.Helper()
	got, err := w.callOperation(call, "list_brand_voices", "{}")
	w.must(err)
	return got.Data.(BrandVoiceList)
}

func (w env) mustGet(id int64) BrandVoice {
	w.t.Helper()
	got, err := w.callOperation(w.call, "get_brand_voice", fmt.Sprintf(`{"id":%d}`, id))
	w.must(err)
	return got.Data.(BrandVoice)
}

// listVoices returns the team's voices, newest first. The default is marked with *.
func (w env) listVoices() []string {
	w.t.Helper()
	out := []string{}
	for _, v := range w.mustList(w.call).BrandVoices {
		if v.Default {
			v.Name += "*"
		}
		out = append(out, v.Name)
	}
	return out
}

func (w env) mustHaveStates(want ...string) {
	w.t.Helper()
	if got := w.listVoices(); !slices.Equal(got, want) {
		w.t.Errorf("voices %q, want %q", got, want)
	}
}

// queryInt returns the integer result of a query.
func (w env) queryInt(query string, args ...any) int {
	w.t.Helper()
	var n int
	w.must(w.db.QueryRow(w.t.Context(), query, args...).Scan(&n))
	return n
}

func (w env) exec(query string, args ...any) {
	w.t.Helper()
	w.must(w.db.InTx(w.t.Context(), "furnish", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	}))
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
