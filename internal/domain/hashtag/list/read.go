package list

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/platform/db"
)

// listLists returns a page of the team's lists followed by the ready-made lists, by descending ID.
func (s *Service) listLists(
	ctx context.Context, call operation.Call, in ListInput,
) (operation.Response[HashtagLists], error) {
	out := operation.Response[HashtagLists]{App: appPage, Data: HashtagLists{HashtagLists: []HashtagListEntry{}}}
	beforeID := int64(math.MaxInt64)
	if in.Cursor != nil {
		position, err := call.Position(*in.Cursor)
		if err != nil {
			return out, err
		}
		if beforeID, err = strconv.ParseInt(position, 10, 64); err != nil {
			return out, fmt.Errorf("parsing a cursor position: %w", err)
		}
	}
	found, err := s.nextLists(ctx, call.TeamID, in, beforeID)
	if err != nil {
		return out, err
	}
	if len(found) > in.Limit {
		found = found[:in.Limit]
		out.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(formatID(found[in.Limit-1].ID))}
	}
	for _, l := range found {
		out.Data.HashtagLists = append(out.Data.HashtagLists, newEntry(l))
	}
	return out, nil
}

// nextLists returns the lists of a page and, if there is a next page, its first list.
func (s *Service) nextLists(ctx context.Context, team int64, in ListInput, beforeID int64) ([]List, error) {
	limit := in.Limit + 1
	var out []List
	if in.Scope != scopeSystem && beforeID > firstTeamListID {
		query, args := pageQuery(team, in.Platform, beforeID, limit)
		var err error
		if out, err = db.AllSized(ctx, s.db, limit, scanLists, query, args...); err != nil {
			return nil, fmt.Errorf("listing hashtag lists: %w", err)
		}
	}
	if in.Scope == scopeOwn {
		return out, nil
	}
	for _, r := range s.readyMadeLists {
		if len(out) < limit && r.ID < beforeID && (in.Platform == "" || r.Platform == "" || r.Platform == in.Platform) {
			out = append(out, r.List)
		}
	}
	return out, nil
}

// get returns a list with its hashtags and their statistics.
func (s *Service) get(ctx context.Context, call operation.Call, in GetInput) (operation.Response[HashtagList], error) {
	var out operation.Response[HashtagList]
	l, err := s.find(ctx, call.TeamID, in.ListID)
	if err != nil {
		return out, err
	}
	version, err := s.Statistics.Version(ctx, s.db, l.Platform)
	if err != nil {
		return out, err
	}
	cached, ok := s.cache.get(l, version)
	if !ok {
		// The loaded statistics may be newer than version, but never older. If they are newer, the next call loads them
		// again.
		if cached, err = s.load(ctx, l); err != nil {
			return out, err
		}
		s.cache.put(l, version, cached)
	}
	l.Size = int64(len(cached.hashtags)) // the hashtags were read after the list
	out.Data, out.App = HashtagList{newEntry(l), slices.Clone(cached.hashtags), cached.json}, appPath(l)
	out.Notes = s.missingMetricsNotes(l, cached.hashtags)
	return out, nil
}

// missingMetricsNotes explains why hashtags of a ready-made list have no metrics yet.
func (s *Service) missingMetricsNotes(l List, hashtags []ListedHashtag) []string {
	withoutMetrics := 0
	for _, h := range hashtags {
		if h.Posts == nil && h.PostsPerDay == nil && h.Score == nil {
			withoutMetrics++
		}
	}
	switch {
	case withoutMetrics == 0 || !l.isReadyMade():
		return nil
	case !s.HasProvider:
		return []string{"The hashtags have no metrics because no provider is configured. Ask the operator to connect " +
			"one."}
	}
	return []string{fmt.Sprintf("%d of %d hashtags have no metrics yet. Ready-made lists are measured slowly, after "+
		"teams' own lists. Add hashtags to a list of your own to have them measured sooner.", withoutMetrics, len(hashtags))}
}

// find returns one of the team's lists or a ready-made list.
func (s *Service) find(ctx context.Context, team, id int64) (List, error) {
	if r, found := s.findReadyMade(id); found {
		return r.List, nil
	}
	return read(ctx, s.db, team, id, "")
}

// findWithItems returns a list and its hashtags.
func (s *Service) findWithItems(ctx context.Context, team, id int64) (List, []Item, error) {
	l, err := s.find(ctx, team, id)
	if err != nil {
		return l, nil, err
	}
	items, err := s.readItems(ctx, l)
	return l, items, err
}

// readItems returns the hashtags of a list.
func (s *Service) readItems(ctx context.Context, l List) ([]Item, error) {
	if r, found := s.findReadyMade(l.ID); found {
		return r.items, nil
	}
	return s.queryItems(ctx, l)
}

// load reads the hashtags of a list with their statistics and encodes them as JSON.
func (s *Service) load(ctx context.Context, l List) (cacheEntry, error) {
	items, err := s.readItems(ctx, l)
	if err != nil {
		return cacheEntry{}, err
	}
	hashtags, err := s.addStatistics(ctx, l, items)
	if err != nil {
		return cacheEntry{}, err
	}
	raw, err := operation.JSON(hashtags)
	if err != nil {
		return cacheEntry{}, fmt.Errorf("encoding the hashtags of a list: %w", err)
	}
	return cacheEntry{hashtags: hashtags, json: raw}, nil
}

// addStatistics returns the hashtags with their statistics, in the form that the API returns. In a list for all
// platforms, each hashtag with known metrics has the platform of these metrics.
func (s *Service) addStatistics(ctx context.Context, l List, items []Item) ([]ListedHashtag, error) {
	out := make([]ListedHashtag, len(items))
	if len(items) == 0 {
		return out, nil
	}
	tags := make([]string, len(items))
	for n, i := range items {
		tags[n] = i.Hashtag
	}
	statistics, err := s.Statistics.Get(ctx, s.db, l.Platform, tags)
	if err != nil {
		return nil, err
	}
	for n, i := range items {
		h := ListedHashtag{HashtagSummary: stats.HashtagSummary{Hashtag: i.Hashtag}, Subcategory: i.Subcategory}
		if f, found := statistics[i.Hashtag]; found {
			h.HashtagSummary = stats.Summarize(f)
			if l.Platform == "" && hasMetrics(f) {
				h.Platform = f.Platform
			}
		}
		out[n] = h
	}
	return out, nil
}

// hasMetrics reports whether any metric is known.
func hasMetrics(f stats.Statistics) bool {
	return f.Posts != nil || f.PostsPerDay != nil || f.Score != nil
}
