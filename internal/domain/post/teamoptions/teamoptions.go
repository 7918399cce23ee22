// Package teamoptions stores a team's network options. They apply to posts that have no options for a network.
package teamoptions

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// Read returns a team's options.
func Read(ctx context.Context, q db.Querier, team int64) (network.Options, error) {
	var stored string
	if err := q.QueryRow(ctx, `SELECT post_options FROM teams WHERE id = ?`, team).Scan(&stored); err != nil {
		return network.Options{}, fmt.Errorf("reading the post options of a team: %w", err)
	}
	return network.DecodeOptions(stored)
}

// HasTikTok reports whether the team has a TikTok account.
func HasTikTok(ctx context.Context, q db.Querier, team int64) (bool, error) {
	var accounts int64
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM social_accounts WHERE team_id = ? AND platform = 'tiktok'
		AND disconnected_at = 0`, team).Scan(&accounts)
	if err != nil {
		return false, fmt.Errorf("counting the TikTok accounts of a team: %w", err)
	}
	return accounts > 0, nil
}

// Validate returns an error if options for TikTok lack a choice that TikTok requires.
func Validate(o network.Options) error {
	t := o.TikTok
	switch {
	case t == nil, t.Mode == network.TikTokInbox:
		return nil
	case t.PrivacyLevel == "":
		return apierr.Invalid(apierr.NotAllowedValue, "tiktok-privacy", "Choose who can see the post on TikTok.")
	case !t.MusicUsageConfirmed:
		return apierr.Invalid(apierr.NotAllowedValue, "tiktok-music", "TikTok requires agreement to its Music Usage Confirmation.")
	}
	return nil
}

// Set stores a team's options.
func Set(ctx context.Context, tx *db.Tx, team int64, o network.Options) error {
	stored, err := network.EncodeOptions(o)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE teams SET post_options = ? WHERE id = ?`, stored, team); err != nil {
		return fmt.Errorf("storing the post options of a team: %w", err)
	}
	return nil
}

// Effective returns a post's options. For a network without options in the post, it returns the team's options.
func Effective(post, team network.Options) network.Options {
	if post.TikTok == nil {
		post.TikTok = team.TikTok
	}
	return post
}

// Defaults returns the team's options that apply to a post, or nil if there are none. isOn reports whether the post has
// an account on a platform.
func Defaults(post, team network.Options, isOn func(platform string) bool) *network.Options {
	if post.TikTok != nil || team.TikTok == nil || !isOn("tiktok") {
		return nil
	}
	return &network.Options{TikTok: team.TikTok}
}
