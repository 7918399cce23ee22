package s3_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/s3"
)

// TestServers checks that servers are separate and require authentication.
func TestServers(t *testing.T) {
	t.Parallel()
	a, b := s3.Start(t), s3.Start(t)
	one, other := a.Bucket(t), a.Bucket(t)
	if a.Endpoint == b.Endpoint || a.ID == b.ID || one == other {
		t.Errorf("%+v and %+v share an endpoint, a key or a bucket", a, b)
	}
	response, err := http.Get(a.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "AccessDenied") {
		t.Errorf("unauthenticated: %d, %s, %v", response.StatusCode, body, err)
	}
}
