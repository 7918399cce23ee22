package post

import (
	"context"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// ArchiveInput identifies a failed post to archive or restore.
type ArchiveInput struct {
	PostID   string `json:"post_id" pattern:"^(?:[A-Za-z0-9-]{1,64})$" jsonschema:"The post's ID."`
	Archived bool   `json:"archived,omitempty" default:"true" jsonschema:"false restores an archived post."`
}

// checkArchivable returns an error if a post cannot be archived.
func (p Record) checkArchivable() error {
	if p.Status != Failed && p.Status != PartiallyPublished {
		return apierr.BadState(string(p.Status), "Only a post that failed can be archived.")
	}
	if slices.ContainsFunc(p.Targets, func(t Target) bool { return t.State == TargetUnconfirmed }) {
		return apierr.BadState(string(TargetUnconfirmed), "The post may have been published on an unconfirmed account. Check the "+
			"network and record the outcome on the account's page in the app, then archive the post.")
	}
	return nil
}

// archive archives a failed post or restores it. An archived post is not retried and not listed as failed.
func (s *Service) archive(ctx context.Context, call operation.Call, in ArchiveInput) (operation.Response[Post], error) {
	var p Record
	err := call.InTx(ctx, s.db, "post.archive", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if p, err = s.Lock(ctx, tx, call.TeamID, in.PostID); err != nil || in.Archived != p.ArchivedAt.IsZero() {
			return err
		}
		if err := p.checkArchivable(); in.Archived && err != nil {
			return err
		}
		kind := "post.unarchived"
		if p.ArchivedAt = (time.Time{}); in.Archived {
			p.ArchivedAt, kind = tx.Now(), "post.archived"
		}
		if err := Update(ctx, tx, &p); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), kind, p.ID, nil)
	})
	if err != nil {
		return operation.Response[Post]{}, err
	}
	return s.answer(call, p), nil
}
