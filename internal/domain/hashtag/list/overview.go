package list

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// Samples returns the first hashtags of each list, by list ID. limit is the maximum number of hashtags per list.
func (s *Service) Samples(ctx context.Context, team int64, lists []HashtagListEntry, limit int) (map[int64][]string, error) {
	out := map[int64][]string{}
	for _, l := range lists {
		if r, found := s.findReadyMade(l.ID); found {
			out[l.ID] = firstHashtags(r.items, limit)
			continue
		}
		tags, err := db.AllSized(ctx, s.db, limit, scanHashtag, itemsQuery+` LIMIT ?`, team, l.ID, limit)
		if err != nil {
			return nil, fmt.Errorf("reading the first hashtags of a list: %w", err)
		}
		out[l.ID] = firstHashtags(tags, limit)
	}
	return out, nil
}

func scanHashtag(rows *sql.Rows, i *Item) error { return rows.Scan(&i.Hashtag, &i.Subcategory) }

func firstHashtags(items []Item, limit int) []string {
	out := make([]string, 0, min(len(items), limit))
	for _, i := range items[:min(len(items), limit)] {
		out = append(out, i.Hashtag)
	}
	return out
}

// Search returns the team's lists and the ready-made lists whose name or hashtags contain text. limit is the maximum
// number of lists of each kind.
func (s *Service) Search(ctx context.Context, team int64, in ListInput, text string, limit int) ([]HashtagListEntry, error) {
	text = provider.NormalizeText(strings.TrimPrefix(strings.TrimSpace(text), "#"))
	var out []HashtagListEntry
	if in.Scope != scopeSystem {
		own, err := s.searchOwn(ctx, team, in.Platform, text, limit)
		if err != nil {
			return nil, err
		}
		out = own
	}
	if in.Scope == scopeOwn {
		return out, nil
	}
	count := 0
	for _, r := range s.readyMadeLists {
		matches := func(i Item) bool { return strings.Contains(i.Hashtag, text) }
		if in.Platform != "" && r.Platform != "" && r.Platform != in.Platform || count == limit {
			continue
		}
		if strings.Contains(provider.NormalizeText(r.Name), text) || slices.ContainsFunc(r.items, matches) {
			out, count = append(out, newEntry(r.List)), count+1
		}
	}
	return out, nil
}

// likeEscaper escapes the wildcards of LIKE.
var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// searchOwn finds lists of a team, newest first. Names are compared in Go, because SQLite and PostgreSQL ignore case
// differently.
func (s *Service) searchOwn(ctx context.Context, team int64, platform, text string, limit int) ([]HashtagListEntry, error) {
	query, args := pageQuery(team, platform, math.MaxInt64, math.MaxInt32)
	lists, err := db.All(ctx, s.db, scanLists, query, args...)
	if err != nil {
		return nil, fmt.Errorf("listing hashtag lists: %w", err)
	}
	matchingIDs, err := db.All(ctx, s.db, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) },
		`SELECT l.id FROM hashtag_lists l WHERE l.team_id = ? AND EXISTS (SELECT 1 FROM hashtag_list_items i
		WHERE i.list_id = l.id AND i.hashtag LIKE ? ESCAPE '\')`, team, "%"+likeEscaper.Replace(text)+"%")
	if err != nil {
		return nil, fmt.Errorf("searching hashtag lists: %w", err)
	}
	var out []HashtagListEntry
	for _, l := range lists {
		if len(out) < limit && (strings.Contains(provider.NormalizeText(l.Name), text) || slices.Contains(matchingIDs, l.ID)) {
			out = append(out, newEntry(l))
		}
	}
	return out, nil
}

// ReadyMade is a ready-made list with its hashtags.
type ReadyMade struct {
	ID       int64
	Name     string
	Hashtags []string
}

// ReadyMadeIn returns the ready-made lists whose hashtags are in a language (a BCP 47 tag), sorted by name. It ignores
// regions and scripts.
func (s *Service) ReadyMadeIn(language string) []ReadyMade {
	var out []ReadyMade
	for _, r := range s.readyMadeLists {
		if baseLanguage(r.language) == baseLanguage(language) {
			out = append(out, ReadyMade{r.ID, r.Name, firstHashtags(r.items, len(r.items))})
		}
	}
	slices.SortFunc(out, func(a, b ReadyMade) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// IsReadyMadeIn reports whether a list is ready-made and its hashtags are in a language (a BCP 47 tag).
func (s *Service) IsReadyMadeIn(id int64, language string) bool {
	r, found := s.findReadyMade(id)
	return found && baseLanguage(r.language) == baseLanguage(language)
}

// baseLanguage returns the language of a BCP 47 tag without its region and script.
func baseLanguage(tag string) string {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return first
}
