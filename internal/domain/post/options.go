package post

import (
	"context"
	"slices"

	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/summary"
	"pressroom.example/pressroom/internal/domain/post/teamoptions"
	"pressroom.example/pressroom/internal/domain/post/thumbnailcheck"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// changeOptions validates and sets a post's options and reports whether this changed them.
func (s *Service) changeOptions(ctx context.Context, tx *db.Tx, p *Record, o network.Options) (bool, error) {
	if err := thumbnailcheck.Check(ctx, tx, s.library, p.TeamID, o); err != nil {
		return false, err
	}
	return s.storeOptions(ctx, tx, p, o)
}

// storeOptions sets a post's options and the references to their media, and reports whether this changed what is
// published. If not, it keeps the old options, so that stating a default explicitly does not revoke an approval.
func (s *Service) storeOptions(ctx context.Context, tx *db.Tx, p *Record, o network.Options) (bool, error) {
	before := p.Options
	if before.Equal(o) {
		return false, nil
	}
	p.Options = o
	if slices.Equal(before.MediaIDs(), o.MediaIDs()) {
		return true, nil
	}
	var err error
	if p.OptionMedia, err = attachment.ReadOptions(ctx, tx, s.library, p.TeamID, o); err != nil {
		return true, err
	}
	return true, setMedia(ctx, tx, *p)
}

// effectiveOptions returns the post's options. If the post has no options for a network, it uses the team's options.
func (p Record) effectiveOptions() network.Options {
	return teamoptions.Effective(p.Options, p.TeamOptions)
}

// inboxNotes returns a note if the post was published to a TikTok inbox, where it is not public yet.
func (p Record) inboxNotes() []string {
	if o := p.effectiveOptions(); o.TikTok == nil || o.TikTok.Mode != network.TikTokInbox {
		return nil
	}
	for _, t := range p.Targets {
		if c := p.Content(t, ""); t.Platform == "tiktok" && t.State == TargetPublished {
			return []string{summary.Inbox(c.Text != "" && len(c.Media) > 0 && c.Media[0].Kind == network.Video)}
		}
	}
	return nil
}
