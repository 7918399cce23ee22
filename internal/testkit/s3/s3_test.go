package s3_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"pressroom/internal/testkit/must"
	"pressroom/internal/testkit/s3"
)

// TestServers shows that a server answers, refuses strangers, and has nothing of another's.
func TestServers(t *testing.T) {
	t.Parallel()
	a, b := s3.Start(t), s3.Start(t)
	one, other := a.Bucket(t), a.Bucket(t)
	if a.Endpoint == b.Endpoint || a.ID == b.ID || one == other {
		t.Errorf("%+v and %+v are not apart", a, b)
	}
	response := must.Get(http.Get(a.Endpoint))(t)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "AccessDenied") {
		t.Errorf("a stranger is told %d, %s, %v", response.StatusCode, body, err)
	}
}
