package report

import (
	"context"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// ExportedPost is a post of a report for export. Its caption and URL come from the network and are untrusted.
type ExportedPost struct {
	provider.Post

	Shown string // top or recent; hashtag reports only
}

const exportBatch = 500

// Export calls yield for each post of a report, newest first. If yield returns an error, Export stops and returns that
// error.
func (s *Service) Export(ctx context.Context, team int64, kind, id string, yield func(ExportedPost) error) error {
	r, err := find(ctx, s.db, team, kind, id, db.Micros(s.db.Now()))
	if err != nil {
		return err
	}
	for pos := startPosition; ; {
		posts, err := s.posts(ctx, r.id, pos, exportBatch)
		if err != nil {
			return err
		}
		for _, p := range posts {
			out := ExportedPost{Post: p.Post}
			if r.kind == Hashtag {
				out.Shown = p.list
			}
			if err := yield(out); err != nil {
				return err
			}
			pos.publishedAt, pos.post = db.Micros(p.TakenAt), p.ID
		}
		if len(posts) < exportBatch {
			return nil
		}
	}
}
