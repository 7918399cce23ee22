package team

import (
	"context"

	"pressroom.example/pressroom/internal/domain/post/teamoptions"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// SetPostOptions sets the default options for the team's posts. Only the owner and admins may call it.
func (h Admin) SetPostOptions(ctx context.Context, o network.Options) error {
	if err := teamoptions.Validate(o); err != nil {
		return err
	}
	return h.change(ctx, "team.post_options", managerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		return auditEntry{h.team, map[string]any{"on": !o.IsZero()}}, teamoptions.Set(ctx, tx, h.team, o)
	})
}
