package post

import (
	"context"
	"reflect"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
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

// optionMedia returns the media that a post's options use. Those that were deleted are Gone.
func (s *Service) optionMedia(ctx context.Context, q db.Querier, p Record) ([]network.Media, error) {
	var out []network.Media
	for _, id := range p.Options.MediaIDs() {
		found, err := s.library.ForPostWithDeleted(ctx, q, p.TeamID, []int64{id})
		switch {
		case apierr.Is(err, apierr.NotFound):
			found = []network.Media{{ID: id, Gone: true}}
		case err != nil:
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// hasOptionMedia reports whether the library has the media that the options for a platform use.
func (p Record) hasOptionMedia(platform string) bool {
	return !slices.ContainsFunc(p.OptionMedia, func(m network.Media) bool {
		return m.Gone && slices.Contains(p.Options.MediaOf(platform), m.ID)
	})
}

// storeOptions sets a post's options and the references to their media. It reports whether this changed the options.
func (s *Service) storeOptions(ctx context.Context, tx *db.Tx, p *Record, o network.Options) (bool, error) {
	before := p.Options.MediaIDs()
	if differs := setOptions(p, o); !differs || slices.Equal(before, o.MediaIDs()) {
		return differs, nil
	}
	var err error
	if p.OptionMedia, err = s.optionMedia(ctx, tx, *p); err != nil {
		return true, err
	}
	return true, setMedia(ctx, tx, *p)
}

// usedOptionMedia returns the IDs of the media in the library that the options use.
func (p Record) usedOptionMedia() []int64 {
	return slices.DeleteFunc(p.Options.MediaIDs(), func(id int64) bool {
		return !slices.ContainsFunc(p.OptionMedia, func(m network.Media) bool { return m.ID == id && !m.Gone })
	})
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
