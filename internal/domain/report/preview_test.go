package report

import (
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The preview of a report names the team's account only while it is connected. Only connected accounts are offered.
func TestPreviewAccount(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		for _, statement := range []string{
			`INSERT INTO teams (name, timezone, content_language, plan, created_at)
				VALUES ('Harbour', 'UTC', 'en', 'team', 1), ('Pier', 'UTC', 'en', 'team', 1)`,
			`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state, sealed_grant,
					created_at, updated_at, disconnected_at)
				VALUES (1, 'instagram', '1', 'left', '', 'connected', '', 1, 1, 5),
					(1, 'instagram', '2', 'harbour', '', 'connected', '', 1, 1, 0),
					(1, 'tiktok_business', '3', 'shop', '', 'connected', '', 1, 1, 0),
					(2, 'instagram', '4', 'pier', '', 'connected', '', 1, 1, 0)`,
		} {
			must.Get(d.Writer().ExecContext(t.Context(), statement))(t)
		}
		s := &Service{db: d}
		for _, c := range []struct {
			platform, username string
			want               int64
		}{
			{"instagram", "harbour", 2},
			{"instagram", "left", 0}, // disconnected
			{"instagram", "pier", 0}, // of another team
			{"tiktok", "shop", 3},
		} {
			in := CreateInput{Type: Profile, Platform: c.platform, Subject: c.username}
			if got := must.Get(s.Preview(t.Context(), 1, in))(t); got.AccountID != c.want {
				t.Errorf("%s %s: account %d, want %d", c.platform, c.username, got.AccountID, c.want)
			}
		}
		own := must.Get(s.OwnProfiles(t.Context(), 1))(t)
		if want := []OwnProfile{{"instagram", "harbour"}, {"tiktok", "shop"}}; !slices.Equal(own, want) {
			t.Errorf("own profiles: %v, want %v", own, want)
		}
	})
}
