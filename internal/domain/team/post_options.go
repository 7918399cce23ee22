package team

import (
	"context"

	"pressroom/internal/domain/post/teamoptions"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// PostOptions returns the options that apply to a team's posts without their own, and whether the team has a TikTok
// account.
func (s *Service) PostOptions(ctx context.Context, team int64) (network.Options, bool, error) {
	o, err := teamoptions.Read(ctx, s.db, team)
	if err != nil {
		return o, false, err
	}
	has, err := teamoptions.HasTikTok(ctx, s.db, team)
	return o, has, err
}

// SetPostOptions sets the options that apply to the team's posts without their own, for its owner and admins.
func (h Admin) SetPostOptions(ctx context.Context, o network.Options) error {
	if err := teamoptions.Validate(o); err != nil {
		return err
	}
	return h.change(ctx, "team.post_options", managerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		return auditEntry{h.team, map[string]any{"on": !o.IsZero()}}, teamoptions.Set(ctx, tx, h.team, o)
	})
}
