package e2e

import (
	"slices"
	"testing"

	"pressroom/internal/testkit"
	"pressroom/internal/testkit/prism"
)

// Every scenario once more over REST behind a proxy that knows the description alone: each answer is as it says,
// and so is each request that succeeds. One database will do, as the description does not know of them.
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
