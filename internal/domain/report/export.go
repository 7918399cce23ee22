package report

import (
	"context"

	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

// Exported is a post of a report as a person takes it along. The caption and the address are a stranger's.
type Exported struct {
	provider.Post

	Shown string // of a hashtag: top or recent
}

const exportedAtOnce = 500

// Export gives every post of a team's report to a function, the newest first, until that fails.
func (s *Service) Export(ctx context.Context, team int64, kind, id string, give func(Exported) error) error {
	r, err := find(ctx, s.db, team, kind, id, db.Micros(s.db.Now()))
	if err != nil {
		return err
	}
	for from := first; ; {
		found, err := s.posts(ctx, r.id, from, exportedAtOnce)
		if err != nil {
			return err
		}
		for _, p := range found {
			out := Exported{Post: p.Post}
			if r.kind == Hashtag {
				out.Shown = p.shown
			}
			if err := give(out); err != nil {
				return err
			}
			from.taken, from.post = db.Micros(p.TakenAt), p.ID
		}
		if len(found) < exportedAtOnce {
			return nil
		}
	}
}
