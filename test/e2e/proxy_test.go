package e2e

import (
	"slices"
	"testing"

	"pressroom/internal/testkit"
	"pressroom/internal/testkit/prism"
)

// Every scenario again over REST behind a proxy that only knows the API description: each answer matches it, and so
// does each request that succeeds. One database suffices.
func TestConformsToOpenAPI(t *testing.T) {
	t.Parallel()
	h := newInstance(t, testkit.SQLite(t), options{})
	proxy := prism.Start(t, "../../api/openapi.json", h.base)
	for _, s := range slices.Concat(scenarios(), hashtagListScenarios(), searchScenarios()) {
		if s.verbatim != "" {
			continue // the proxy re-encodes JSON, so malformed JSON is lost
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := h.newEnv(t, s.options())
			w.base, w.proxied = proxy, true
			s.play(t, w, overREST)
		})
	}
}
