package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/testkit/must"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plans.json")
	must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Members that a file omits keep their defaults.
func TestFileOverridesDefaults(t *testing.T) {
	t.Parallel()
	catalog := `{"prices":{"profile_report":7},"limits":{"requests":{"per_minute":600},"jobs_in_flight":9}}`
	got := must.Get(plan.ReadCatalog(file(t, catalog)))(t)
	want := plan.Default()
	want.Prices.ProfileReport, want.Limits.Requests.PerMinute, want.Limits.JobsInFlight = 7, 600, 9
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The plans of a file replace the default ones completely.
func TestFileReplacesPlans(t *testing.T) {
	t.Parallel()
	got := must.Get(plan.ReadCatalog(file(t,
		`{"lapsed_plan":"none","plans":[{"id":"none","name":"None"},{"id":"all","name":"All","api_keys":true,`+
			`"free_calls_per_day":-1}]}`)))(t)
	want := []plan.Plan{{ID: "none", Name: "None"}, {ID: "all", Name: "All", APIKeys: true, FreeCallsPerDay: plan.Unlimited}}
	if diff := cmp.Diff(want, got.Plans); diff != "" {
		t.Error(diff)
	}
	if _, ok := got.Plan("agency"); ok {
		t.Error("a default plan was kept")
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	raw := must.Get(json.Marshal(plan.Default()))(t)
	got, err := plan.ReadCatalog(file(t, string(raw)))
	if diff := cmp.Diff(plan.Default(), got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestReadRejects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"not JSON":              {`plans:`, "reading the plans"},
		"an unknown name":       {`{"price":{}}`, "unknown object member"},
		"a name twice":          {`{"limits":{},"limits":{}}`, "duplicate"},
		"a second object":       {`{} {}`, "reading the plans"},
		"a misspelled limit":    {`{"limits":{"request":{}}}`, "unknown object member"},
		"a plan without a name": {`{"plans":[{"id":"free"}]}`, "needs a name"},
		"a plan twice":          {`{"plans":[{"id":"free","name":"A"},{"id":"free","name":"B"}]}`, "unique id"},
		"an invalid id":         {`{"plans":[{"id":"Free plan","name":"A"}]}`, "unique id"},
		"a number below -1":     {`{"plans":[{"id":"free","name":"A","seats":-2}]}`, "below -1"},
		"unknown lapsed plan":   {`{"plans":[{"id":"all","name":"All"}]}`, "lapsed_plan"},
		"an expensive report":   {`{"prices":{"hashtag_report":11}}`, "at most 10"},
		"a price below 0":       {`{"prices":{"hashtag_search":-1}}`, "from 0"},
		"a rate of 0":           {`{"limits":{"writes":{"per_minute":0}}}`, "burst of rates"},
		"no jobs":               {`{"limits":{"jobs_in_flight":0}}`, "jobs_in_flight"},
		"hashtag days too low":  {`{"limits":{"hashtag_days":0}}`, "hashtag_days"},
		"hashtag days too high": {`{"limits":{"hashtag_days":29}}`, "hashtag_days"},
	} {
		if _, err := plan.ReadCatalog(file(t, c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := plan.ReadCatalog(filepath.Join(t.TempDir(), "missing.json")); err == nil {
		t.Error("a missing file was read")
	}
}
