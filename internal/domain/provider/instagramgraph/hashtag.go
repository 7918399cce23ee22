package instagramgraph

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	ofTagged = "id,caption,media_type,permalink,timestamp,like_count,comments_count" // it tells no more of a stranger's post
	lately   = 24 * time.Hour                                                        // what Instagram counts as recent
)

// Hashtag tells what stands under a hashtag: the posts that Instagram shows as the best, and those of the last day. Its
// size is not told. Errors are provider.ErrNotFound, provider.ErrNotOffered, *provider.Unavailable and those of the shelf.
//
// An account can ask for few different hashtags in a week, and again for those as often as it likes. Where none has a
// place left, provider.Unavailable tells when one gets free. For a question that nobody waits for, two thirds of an account's
// places have to be free.
func (s *Source) Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
	if q.Platform != provider.Instagram || !s.opts.Hashtags {
		return provider.HashtagFigures{}, provider.ErrNotOffered
	}
	var last error
	tried := map[string]bool{}
	for range s.accounts.all {
		one, err := s.seat(ctx, q, tried, last)
		if err != nil {
			return provider.HashtagFigures{}, err
		}
		tried[one.id] = true
		figures, err := s.hashtag(ctx, one, q)
		f, ok := errors.AsType[*failure](err)
		if !ok {
			return figures, err
		}
		if !f.kind.ofAccount() {
			return provider.HashtagFigures{}, f.shown()
		}
		s.setAside(ctx, one, f)
		if f.kind == full {
			if err := s.opts.Shelf.GiveBack(ctx, q.Hashtag, one.id); err != nil {
				return provider.HashtagFigures{}, err
			}
		}
		last = f
	}
	return provider.HashtagFigures{}, s.nobody(last, true)
}

// seat takes a place for a hashtag at one of the accounts that can be asked now, but for those that were tried.
func (s *Source) seat(ctx context.Context, q provider.HashtagQuery, tried map[string]bool, last error) (*account, error) {
	now := s.now()
	byID := map[string]*account{}
	var ids []string
	for _, one := range s.accounts.ready(now, true) {
		if !tried[one.id] {
			byID[one.id] = one
			ids = append(ids, one.id)
		}
	}
	if len(ids) == 0 {
		return nil, s.nobody(last, true)
	}
	most := places
	if q.Background {
		most = idlePlaces
	}
	if q.Spare {
		most = sparePlaces
	}
	place, err := s.opts.Shelf.Place(ctx, q.Hashtag, ids, most)
	if err != nil {
		return nil, err
	}
	if one := byID[place.Account]; one != nil {
		return one, nil
	}
	wait := place.Free.Sub(now)
	if sooner := s.accounts.soonest(now, true); sooner > 0 && sooner < wait {
		wait = sooner
	}
	why := "every account has asked for as many hashtags as Instagram allows in a week"
	if q.Background {
		why = "every account has asked for a third of the hashtags that Instagram allows in a week, and the rest is for those who wait"
	}
	return nil, &provider.Unavailable{After: max(wait, time.Second), Err: errors.New(why)}
}

// hashtag asks by one account that has a place for it.
func (s *Source) hashtag(ctx context.Context, one *account, q provider.HashtagQuery) (provider.HashtagFigures, error) {
	id, err := s.hashtagID(ctx, one, q.Hashtag)
	if err != nil {
		return provider.HashtagFigures{}, err
	}
	top, _, err := s.tagged(ctx, one, id+"/top_media", q.Most)
	if err != nil {
		return provider.HashtagFigures{}, err
	}
	if err := one.walk(ctx); err != nil {
		return provider.HashtagFigures{}, err
	}
	defer one.walked()
	// What is posted while the pages are read is on none of them: what is told is measured when they are begun. What
	// gets older than a day meanwhile may be missing.
	figures := provider.HashtagFigures{Hashtag: q.Hashtag, Top: top.Taken(), MeasuredAt: s.now()}
	recent, whole, err := s.tagged(ctx, one, id+"/recent_media", q.Most)
	if err != nil {
		return provider.HashtagFigures{}, err
	}
	figures.Recent = recent.Newest()
	if whole {
		figures.From = s.now().Add(-lately)
	}
	return figures, nil
}

// hashtagID is what Instagram knows a hashtag by, which never changes.
func (s *Source) hashtagID(ctx context.Context, one *account, hashtag string) (string, error) {
	id, err := s.opts.Shelf.ID(ctx, hashtag)
	if err != nil || id != "" {
		return id, err
	}
	var said struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := s.get(ctx, one, "ig_hashtag_search", url.Values{"user_id": {one.id}, "q": {hashtag}}, &said); err != nil {
		return "", err
	}
	if len(said.Data) == 0 {
		return "", provider.ErrNotFound
	}
	if !accountForm.MatchString(said.Data[0].ID) {
		return "", errNoAnswer
	}
	return said.Data[0].ID, s.opts.Shelf.KeepID(ctx, hashtag, said.Data[0].ID)
}

// tagged reads posts under a hashtag, page by page, and tells whether those are all that there are. Instagram's cursor is
// the same on every page, so that the list ends with a page without one or without anything new.
func (s *Source) tagged(ctx context.Context, one *account, path string, most int) (wire.Posts, bool, error) {
	posts := wire.Posts{Most: most}
	params := url.Values{"user_id": {one.id}, "fields": {ofTagged}, "limit": {strconv.Itoa(min(max(most, 1), postsEach))}}
	for range maxPages {
		var said list
		if err := s.get(ctx, one, path, params, &said); err != nil {
			return posts, false, err
		}
		page := said.posts(s.now())
		if len(page) == 0 && len(said.Data) > 0 {
			return posts, false, fmt.Errorf("%w: none of its %d posts can be used", errNoAnswer, len(said.Data))
		}
		further := posts.Add(page)
		cursor, err := said.after()
		if err != nil {
			return posts, false, err
		}
		if !further || cursor == "" {
			return posts, !posts.Cut() && (cursor == "" || !posts.Full()), nil
		}
		params.Set("after", cursor)
	}
	return posts, false, nil
}
