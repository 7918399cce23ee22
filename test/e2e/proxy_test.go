package e2e

import (
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/prism"
)

// Every scenario runs over REST through a proxy that validates requests and responses. Every response and every
// successful request must match the API description. One kind of database suffices.
func TestConformsToOpenAPI(t *testing.T) {
	t.Parallel()
	h := newInstance(t, testkit.SQLite(t), options{})
	proxy := prism.Start(t, "../../api/openapi.json", h.base)
	for _, s := range slices.Concat(scenarios(), hashtagListScenarios(), searchScenarios()) {
		if s.verbatim != "" {
			continue // the proxy would re-encode malformed JSON
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := h.newEnv(t, s.options())
			w.base, w.proxied = proxy, true
			s.play(t, w, overREST)
		})
	}
}
