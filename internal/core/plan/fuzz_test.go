package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Accepted plans are consistent, and Read accepts them again in encoded form.
func FuzzRead(f *testing.F) {
	shipped, err := json.Marshal(plan.Default())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shipped)
	f.Add([]byte(`{"plans":[]}`))
	f.Add([]byte(`{"plans":[{"id":"free"}],"lapsed_plan":"gone"}`))
	f.Add([]byte(`{"limits":{"requests":{"per_minute":-1}}}`))
	f.Add([]byte(`{"prices":{"profile_report":1e300}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "plans.json")
		must.NoError(t, os.WriteFile(path, text, 0o600))
		read, err := plan.ReadCatalog(path)
		if err != nil {
			return
		}
		if _, ok := read.Plan(read.Lapsed); !ok {
			t.Fatalf("unknown plan %q", read.Lapsed)
		}
		again := must.Get(json.Marshal(read))(t)
		must.NoError(t, os.WriteFile(path, again, 0o600))
		if _, err := plan.ReadCatalog(path); err != nil {
			t.Fatalf("accepted plans are rejected after encoding: %v", err)
		}
	})
}
