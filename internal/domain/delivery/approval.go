package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// AppVerdict is a network's response to the last post that it either published or refused because of the operator's app.
type AppVerdict struct {
	At          time.Time
	Accepted    bool
	NetworkCode string          // from the network; untrusted
	NetworkText string          // from the network; untrusted
	Options     network.Options // of the post, and of its team for networks without any
}

// AppVerdicts returns the newest verdict of each network, by platform. It searches the newest 500 attempts.
func (s *Service) AppVerdicts(ctx context.Context) (map[string]AppVerdict, error) {
	type row struct {
		AppVerdict

		platform string
	}
	rows, err := db.All(ctx, s.db, func(rows *sql.Rows, v *row) error {
		var at int64
		var result, post, team string
		if err := rows.Scan(&v.platform, &at, &result, &v.NetworkCode, &v.NetworkText, &post, &team); err != nil {
			return err
		}
		v.At, v.Accepted = db.Time(at), result == "published"
		var err error
		v.Options, err = effectiveOptions(post, team)
		return err
	}, `SELECT a.platform, t.started_at, t.result, t.network_code, t.network_text, p.options, m.post_options
		FROM (SELECT id, delivery_id, started_at, result, network_code, network_text FROM delivery_attempts
		ORDER BY id DESC LIMIT ?) t JOIN deliveries d ON d.id = t.delivery_id
		JOIN social_accounts a ON a.id = d.account_id JOIN posts p ON p.id = d.post_id JOIN teams m ON m.id = d.team_id
		WHERE t.result IN ('published', ?) ORDER BY t.id`, searchedAttempts, string(network.Unapproved))
	if err != nil {
		return nil, fmt.Errorf("reading the verdicts on apps: %w", err)
	}
	out := map[string]AppVerdict{}
	for _, v := range rows {
		out[v.platform] = v.AppVerdict // Later rows are newer.
	}
	return out, nil
}

// effectiveOptions decodes the options of a post, and of its team for networks without any.
func effectiveOptions(post, team string) (network.Options, error) {
	o, err := network.DecodeOptions(post)
	if err != nil || o.TikTok != nil {
		return o, err
	}
	defaults, err := network.DecodeOptions(team)
	o.TikTok = defaults.TikTok
	return o, err
}
