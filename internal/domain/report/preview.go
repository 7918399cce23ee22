package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// Preview holds what is known about the subject of a report before the team pays for the report. It is read without a
// call to a provider.
type Preview struct {
	Subject    string // normalized
	ID         string // ID of the team's existing report; empty if there is none
	Pending    bool   // whether that report is being created
	MeasuredAt time.Time
	AccountID  int64  // ID of the team's connected account for the profile; 0 if there is none
	URL        string // of the subject's public page
}

// hashtagPageURL is the URL prefix of Instagram's hashtag pages.
const hashtagPageURL = "https://www.instagram.com/explore/tags/"

// Preview returns what is known about the subject of a report.
func (s *Service) Preview(ctx context.Context, team int64, in CreateInput) (Preview, error) {
	var out Preview
	var err error
	if out.Subject, err = in.normalizedSubject(); err != nil {
		return out, err
	}
	out.URL = provider.ProfileURL(in.Platform, out.Subject)
	if in.Type == Hashtag {
		out.URL = hashtagPageURL + url.PathEscape(out.Subject) + "/"
	}
	var r record
	err = r.scan(s.db.QueryRow(ctx, `SELECT `+columns+` FROM reports WHERE team_id = ? AND kind = ? AND platform = ?
		AND subject = ?`, team, in.Type, in.Platform, out.Subject).Scan)
	switch {
	case err == nil && (r.isAvailable(s.db.Now()) || r.isBeingCreated()):
		out.ID, out.Pending, out.MeasuredAt = r.id, r.status == Pending, r.measuredAt
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return out, fmt.Errorf("reading the report of a subject: %w", err)
	}
	if in.Type != Profile {
		return out, nil
	}
	out.AccountID, err = s.connectedAccount(ctx, team, in.Platform, out.Subject)
	return out, err
}

// connectedAccount returns the ID of the team's connected account with a username, or 0 if there is none.
func (s *Service) connectedAccount(ctx context.Context, team int64, platform, username string) (int64, error) {
	platforms := []any{platform}
	if platform == provider.TikTok {
		platforms = append(platforms, "tiktok_business")
	}
	var id int64
	err := s.db.QueryRow(ctx, `SELECT id FROM social_accounts
		WHERE team_id = ? AND username = ? AND disconnected_at = 0 AND platform IN (`+
		db.Placeholders(len(platforms))+`) ORDER BY id LIMIT 1`,
		append([]any{team, username}, platforms...)...).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading the account of a profile: %w", err)
	}
	return id, nil
}

// OwnProfile is a team's connected account that is offered as the subject of a report.
type OwnProfile struct{ Platform, Username string }

// maxOwnProfiles is the maximum number of a team's accounts that are offered as subjects of reports.
const maxOwnProfiles = 6

// OwnProfiles returns a team's connected accounts on networks with profile reports, at most maxOwnProfiles.
func (s *Service) OwnProfiles(ctx context.Context, team int64) ([]OwnProfile, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, p *OwnProfile) error {
		return rows.Scan(&p.Platform, &p.Username)
	}, `SELECT DISTINCT CASE platform WHEN 'tiktok_business' THEN 'tiktok' ELSE platform END, username FROM social_accounts
		WHERE team_id = ? AND disconnected_at = 0 AND platform IN ('instagram', 'tiktok', 'tiktok_business')
		ORDER BY 1, 2 LIMIT ?`, team, maxOwnProfiles)
	if err != nil {
		return nil, fmt.Errorf("reading the accounts of a team: %w", err)
	}
	return out, nil
}
