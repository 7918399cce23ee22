package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Invalid network settings are rejected at the start with the name of the setting.
func TestNetworkSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ settings, secret, want string }{
		{`{"threads": {"client_id": "1"}}`, "s", ""},
		{`{"x": {"client_id": "1"}}`, "", ""},
		{`{"x": {"client_id": "1", "rules": {"text": {"longest": 1000}, "videos": {"longest": "10m"}}}}`, "", ""},
		{`{"bluesky": {"web_url": "https://bsky.example"}}`, "", ""},
		{`{"threads": {"client_id": "1"}}`, "", "PRESSROOM_THREADS_CLIENT_SECRET"},
		{`{"instagram": {"client_id": "1", "facebook": {"client_id": "2"}}}`, "", "PRESSROOM_INSTAGRAM_CLIENT_SECRET"},
		{
			`{"instagram": {"client_id": "1", "facebook": {"client_id": "2"}}, "threads": {"client_id": "1"}}`, "",
			"PRESSROOM_INSTAGRAM_CLIENT_SECRET, PRESSROOM_INSTAGRAM_FACEBOOK_CLIENT_SECRET, PRESSROOM_THREADS_CLIENT_SECRET",
		},
		{`{"linkedin": {"company": {"client_id": "2"}}}`, "", "PRESSROOM_LINKEDIN_COMPANY_CLIENT_SECRET"},
		{`{"tiktok": {"client_id": "1", "defaults": {"mode": "inbox"}}}`, "s", ""},
		{`{"tiktok": {"client_id": "1", "defaults": {"privacy_level": "SELF_ONLY"}}}`, "s", "people choose"},
		{`{"tiktok": {"client_id": "1", "defaults": {"music_usage_confirmed": true}}}`, "s", "people choose"},
		{`{"tiktok": {"client_id": "1", "defaults": {"mode": "draft"}}}`, "s", "mode"},
		{`{"youtube": {"client_id": "1", "privacy": "unlisted"}}`, "s", ""},
		{`{"youtube": {"client_id": "1", "privacy": "secret"}}`, "s", "privacy"},
		{`{"threads": {}}`, "s", "client_id"},
		{`{"myspace": {}}`, "s", "myspace"},
		{`{"threads": {"client_id": "1", "rulez": {}}}`, "s", "rulez"},
		{`{"threads": {"client_id": "1", "rules": {"text": {"longest": -5}}}}`, "s", "longest"},
		{`{"threads": {"client_id": "1", "settled": "-5s"}}`, "s", "settled"},
		{`{"threads": {"client_id": "1", "graph_host": "nonsense"}}`, "s", "graph_host"},
	} {
		t.Run(c.settings, func(t *testing.T) {
			t.Parallel()
			key := must.Get(tokencrypt.NewKey())(t)
			settings := server.NetworkSettings{Secret: func(string) string { return c.secret }}
			must.NoError(t, json.Unmarshal([]byte(c.settings), &settings.ByPlatform))
			s, err := server.Open(t.Context(),
				server.Config{
					Database: testkit.SQLite(t), SealingKey: key, Role: server.RoleAPI, Blobs: testkit.Blobs(t),
					Log: silent(), Networks: settings,
				})
			if err == nil {
				err = s.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
