package report

import (
	"context"

	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

// ExportedPost is a post of a report as a person takes it along. The caption and the address are a stranger's.
type ExportedPost struct {
	provider.Post

	Shown string // of a hashtag: top or recent
}

const exportBatch = 500

// Export gives every post of a team's report to a function, the newest first, until that fails.
func (s *Service) Export(ctx context.Context, team int64, kind, id string, give func(ExportedPost) error) error {
	r, err := find(ctx, s.db, team, kind, id, db.Micros(s.db.Now()))
	if err != nil {
		return err
	}
	for from := startPosition; ; {
		found, err := s.posts(ctx, r.id, from, exportBatch)
		if err != nil {
			return err
		}
		for _, p := range found {
			out := ExportedPost{Post: p.Post}
			if r.kind == Hashtag {
				out.Shown = p.shown
			}
			if err := give(out); err != nil {
				return err
			}
			from.taken, from.post = db.Micros(p.TakenAt), p.ID
		}
		if len(found) < exportBatch {
			return nil
		}
	}
}
