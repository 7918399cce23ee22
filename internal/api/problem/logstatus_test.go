package problem_test

import (
	"context"
	"net/http"
	"testing"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A request is not logged as a server error if the client disconnected.
func TestLogStatus(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx          context.Context
		status, want int
	}{
		{t.Context(), 500, 500}, {t.Context(), 503, 503}, {t.Context(), 200, 200},
		{canceled, 500, problem.StatusClientClosed}, {canceled, 503, problem.StatusClientClosed},
		{canceled, 200, 200}, {canceled, 422, 422},
	} {
		r := must.Get(http.NewRequestWithContext(c.ctx, http.MethodGet, "http://press.test/", nil))(t)
		if got := problem.LogStatus(r, c.status); got != c.want {
			t.Errorf("status %d is logged as %d, want %d", c.status, got, c.want)
		}
	}
}
