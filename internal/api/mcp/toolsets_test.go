package mcp

import (
	"net/http"
	"net/url"
	"testing"

	"pressroom.example/pressroom/internal/core/operation"
)

// A selection includes the tools of its toolsets and of the account, and no write if it only reads.
func TestSelectionIncludes(t *testing.T) {
	for _, tt := range []struct {
		query, method, path string
		want                bool
	}{
		{"toolsets=posts,media", http.MethodPost, "/posts/{post_id}/publish", true},
		{"toolsets=posts,media", http.MethodGet, "/media", true},
		{"toolsets=posts,media", http.MethodGet, "/reports", false},
		{"toolsets=posts", http.MethodGet, "/jobs/{job_id}", true},
		{"toolsets=posts&read_only=1", http.MethodPost, "/posts", false},
		{"toolsets=posts&read_only=1", http.MethodGet, "/posts", true},
	} {
		query, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseSelection(query)
		var op operation.Operation
		op.Method, op.Path = tt.method, tt.path
		if got := s.includes(&op); err != nil || got != tt.want {
			t.Errorf("%s: %s %s: %v, %v", tt.query, tt.method, tt.path, got, err)
		}
	}
}
