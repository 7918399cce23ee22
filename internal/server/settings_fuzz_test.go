package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit/must"
)

// ReadSources rejects all input that is not JSON.
func FuzzReadSources(f *testing.F) {
	f.Add([]byte(`{"instagram_graph":{"accounts":[{"token_env":"UNSET"}]},"tiktok_research":{"client_secret_env":"UNSET"}}`))
	f.Add([]byte(`{"instagram_graph":null,"instagram_graph":{}}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{} {}`))
	f.Add([]byte(`{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "sources.json")
		must.NoError(t, os.WriteFile(path, text, 0o600))
		if _, err := server.ReadSources(path); err == nil && !json.Valid(text) {
			t.Fatalf("%q was accepted", text)
		}
	})
}
