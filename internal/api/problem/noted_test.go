package problem_test

import (
	"context"
	"net/http"
	"testing"

	"pressroom/internal/api/problem"
)

// What a caller who hung up was refused for on our side is none of our failures; what was said before is noted as it
// was.
func TestNoted(t *testing.T) {
	t.Parallel()
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for _, c := range []struct {
		ctx          context.Context
		status, want int
	}{
		{t.Context(), 500, 500}, {t.Context(), 503, 503}, {t.Context(), 200, 200},
		{gone, 500, problem.ClientGone}, {gone, 503, problem.ClientGone}, {gone, 200, 200}, {gone, 422, 422},
	} {
		r, err := http.NewRequestWithContext(c.ctx, http.MethodGet, "http://press.test/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := problem.Noted(r, c.status); got != c.want {
			t.Errorf("%d is noted as %d, want %d", c.status, got, c.want)
		}
	}
}
