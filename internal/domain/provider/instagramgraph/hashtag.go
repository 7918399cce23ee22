package instagramgraph

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	// hashtagFields lists all fields that Instagram returns for other accounts' posts.
	hashtagFields = "id,caption,media_type,permalink,timestamp,like_count,comments_count"
	// recentWindow is the maximum age of the posts that Instagram returns as recent.
	recentWindow = 24 * time.Hour
)

// Hashtag returns a hashtag's top posts and its posts from the last day. The hashtag's size is not available. Its
// errors are provider.ErrNotFound, provider.ErrNotOffered, *provider.UnavailableError and errors of the store.
//
// An account can query a limited number of distinct hashtags per week. Each hashtag takes one of the account's slots
// and can then be queried any number of times. If no account has a free slot, provider.UnavailableError says when the
// next slot is freed. A background query gets a slot only if more than two thirds of an account's slots are free.
func (s *Source) Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	if q.Platform != provider.Instagram || !s.opts.Hashtags {
		return provider.HashtagMetrics{}, provider.ErrNotOffered
	}
	var lastErr error
	triedIDs := map[string]bool{}
	for range s.accounts.list {
		acct, err := s.reserveSlot(ctx, q, triedIDs, lastErr)
		if err != nil {
			return provider.HashtagMetrics{}, err
		}
		triedIDs[acct.id] = true
		metrics, err := s.fetchHashtag(ctx, acct, q)
		apiErr, ok := errors.AsType[*apiError](err)
		if !ok {
			return metrics, err
		}
		if !apiErr.kind.isAccountSpecific() {
			return provider.HashtagMetrics{}, apiErr.publicError()
		}
		s.pauseAccount(ctx, acct, apiErr)
		if apiErr.kind == kindQuotaFull {
			if err := s.opts.HashtagStore.Release(ctx, q.Hashtag, acct.id); err != nil {
				return provider.HashtagMetrics{}, err
			}
		}
		lastErr = apiErr
	}
	return provider.HashtagMetrics{}, s.noAccountError(lastErr, true)
}

// reserveSlot reserves a slot for a hashtag on an available account that was not tried yet. lastErr is the error of the
// account that was tried last, or nil.
func (s *Source) reserveSlot(ctx context.Context, q provider.HashtagQuery, triedIDs map[string]bool,
	lastErr error) (*accountState, error) {
	now := s.now()
	byID := map[string]*accountState{}
	var ids []string
	for _, acct := range s.accounts.available(now, true) {
		if !triedIDs[acct.id] {
			byID[acct.id] = acct
			ids = append(ids, acct.id)
		}
	}
	if len(ids) == 0 {
		return nil, s.noAccountError(lastErr, true)
	}
	limit := maxSlots
	if q.Background {
		limit = backgroundSlots
	}
	if q.LowPriority {
		limit = lowPrioritySlots
	}
	slot, err := s.opts.HashtagStore.Reserve(ctx, q.Hashtag, ids, limit)
	if err != nil {
		return nil, err
	}
	if acct := byID[slot.Account]; acct != nil {
		return acct, nil
	}
	wait := slot.FreeAt.Sub(now)
	if sooner := s.accounts.untilNextAvailable(now, true); sooner > 0 && sooner < wait {
		wait = sooner
	}
	reason := "all accounts have used their weekly hashtag quota"
	if q.Background {
		reason = "all accounts have used the background share of their weekly hashtag quota"
	}
	return nil, &provider.UnavailableError{After: max(wait, time.Second), Err: errors.New(reason)}
}

// fetchHashtag queries a hashtag through an account that has a slot for it.
func (s *Source) fetchHashtag(ctx context.Context, acct *accountState,
	q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	id, err := s.hashtagID(ctx, acct, q.Hashtag)
	if err != nil {
		return provider.HashtagMetrics{}, err
	}
	top, _, err := s.fetchPosts(ctx, acct, id+"/top_media", q.PostLimit)
	if err != nil {
		return provider.HashtagMetrics{}, err
	}
	if err := acct.lockRecent(ctx); err != nil {
		return provider.HashtagMetrics{}, err
	}
	defer acct.unlockRecent()
	// Instagram does not return posts that are published while pages are read, so MeasuredAt is the time when reading
	// starts.
	metrics := provider.HashtagMetrics{Hashtag: q.Hashtag, Top: top.All(), MeasuredAt: s.now()}
	recent, complete, err := s.fetchPosts(ctx, acct, id+"/recent_media", q.PostLimit)
	if err != nil {
		return provider.HashtagMetrics{}, err
	}
	metrics.Recent = recent.NewestFirst()
	if complete {
		metrics.From = s.now().Add(-recentWindow)
	}
	return metrics, nil
}

// hashtagID returns Instagram's ID of a hashtag, which never changes.
func (s *Source) hashtagID(ctx context.Context, acct *accountState, hashtag string) (string, error) {
	id, err := s.opts.HashtagStore.ID(ctx, hashtag)
	if err != nil || id != "" {
		return id, err
	}
	var parsed struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := s.get(ctx, acct, "ig_hashtag_search", url.Values{"user_id": {acct.id}, "q": {hashtag}}, &parsed); err != nil {
		return "", err
	}
	if len(parsed.Data) == 0 {
		return "", provider.ErrNotFound
	}
	if !accountIDPattern.MatchString(parsed.Data[0].ID) {
		return "", errInvalidResponse
	}
	return parsed.Data[0].ID, s.opts.HashtagStore.SaveID(ctx, hashtag, parsed.Data[0].ID)
}

// fetchPosts reads the posts of a hashtag and reports whether it read all of them. Instagram returns the same cursor
// for every page, so the list ends with a page that has no cursor or no new posts.
func (s *Source) fetchPosts(ctx context.Context, acct *accountState, path string, limit int) (wire.Posts, bool, error) {
	posts := wire.Posts{Limit: limit}
	params := url.Values{"user_id": {acct.id}, "fields": {hashtagFields},
		"limit": {strconv.Itoa(min(max(limit, 1), pageSize))}}
	for range maxPages {
		var parsed mediaList
		if err := s.get(ctx, acct, path, params, &parsed); err != nil {
			return posts, false, err
		}
		page := parsed.posts(s.now())
		if len(page) == 0 && len(parsed.Data) > 0 {
			return posts, false, fmt.Errorf("%w: none of the %d posts is valid", errInvalidResponse, len(parsed.Data))
		}
		hasMore := posts.Add(page)
		cursor, err := parsed.nextCursor()
		if err != nil {
			return posts, false, err
		}
		if !hasMore || cursor == "" {
			return posts, !posts.IsTruncated() && (cursor == "" || !posts.IsFull()), nil
		}
		params.Set("after", cursor)
	}
	return posts, false, nil
}
