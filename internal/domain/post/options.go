package post

import (
	"context"
	"reflect"

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
	return setOptions(p, o), nil
}

// setOptions sets a post's options and reports whether this changed them.
func setOptions(p *Record, o network.Options) bool {
	differs := !reflect.DeepEqual(p.Options, o)
	p.Options = o
	return differs
}

// effectiveOptions returns the post's options. For a network for which the post has none, it returns the team's options.
func (p Record) effectiveOptions() network.Options {
	return teamoptions.Effective(p.Options, p.TeamOptions)
}

// inboxNotes returns a note if the post was published to an inbox and is not public yet.
func (p Record) inboxNotes() []string {
	if o := p.effectiveOptions(); o.TikTok == nil || o.TikTok.Mode != network.TikTokInbox {
		return nil
	}
	for _, t := range p.Targets {
		if t.Platform != "tiktok" || t.State != TargetPublished {
			continue
		}
		note := "On TikTok the post is in the account's inbox. It becomes visible once a person completes it in the TikTok app."
		if c := p.Content(t, ""); c.Text != "" && len(c.Media) > 0 && c.Media[0].Kind == network.Video {
			note += " TikTok takes no caption with a video there, so the caption has to be written in the app."
		}
		return []string{note}
	}
	return nil
}
