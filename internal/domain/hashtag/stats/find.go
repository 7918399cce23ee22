package stats

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"pressroom/internal/platform/db"
)

// MaxMatches is how many hashtags are found at once.
const MaxMatches = 200

// bounds are what one call reads of the index at most. It tells in the order of size which hashtags hold three characters,
// a gram. What is looked for by one gram alone, a beginning of two characters or a part of three, is read off it; a
// longer word is looked for among the hashtags of its rarest gram, so all of them are found but where every gram of
// the word is in more hashtags than are looked at: then the largest of those are.
type bounds struct {
	grams      int // grams that are compared to find the rarest
	rareBelow  int // a gram in fewer hashtags than that is rare enough
	maxScanned int // hashtags that are looked at, of the largest
}

// defaultBounds is a few milliseconds of work, on either database, however many hashtags there are.
var defaultBounds = bounds{grams: 16, rareBelow: 500, maxScanned: 10_000}

// split is what each of several looks may read, so that all read no more than one.
func (b bounds) split(looks int) bounds {
	return bounds{grams: max(1, b.grams/looks), rareBelow: max(1, b.rareBelow/looks), maxScanned: max(1, b.maxScanned/looks)}
}

// Find is the known hashtags that match a word: those that begin with it, from two characters on, and those that
// contain it, from three on; the very word first, then the largest. Those of unknown size come last, and those of
// one size in the order in which they became known.
func (s *Store) Find(ctx context.Context, platform, word string, most int) ([]Figures, error) {
	return s.Matches(ctx, platform, []string{word}, most)
}

// Matches is the known hashtags for a phrase of several words, in this order: the words as one; each word by itself;
// those that contain all the words, in whatever order, the largest first; those that contain one of them, as Find says
// it, the largest first. What no hashtag can contain is left out of the phrase, and what follows its tenth word.
func (s *Store) Matches(ctx context.Context, platform string, words []string, most int) ([]Figures, error) {
	names, err := s.matches(ctx, platform, words, min(most, MaxMatches), defaultBounds)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	known, err := s.Get(ctx, s.db, platform, names)
	if err != nil {
		return nil, err
	}
	out := make([]Figures, len(names))
	for n, name := range names {
		f, found := known[name]
		if !found {
			f = Figures{Platform: platform, Hashtag: name}
		}
		out[n] = f
	}
	return out, nil
}

func (s *Store) matches(ctx context.Context, platform string, words []string, most int, b bounds) ([]string, error) {
	words = normalizeWords(words)
	if len(words) == 0 || most < 1 {
		return nil, nil
	}
	out, err := s.exactMatches(ctx, platform, words)
	if err != nil {
		return nil, err
	}
	for _, looks := range [][]lookup{lookupsForAll(words), lookupsForAny(words)} {
		if len(out) >= most || len(looks) == 0 {
			continue
		}
		hits, err := s.runLookups(ctx, platform, looks, most, b.split(len(looks)))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if !slices.Contains(out, h.hashtag) {
				out = append(out, h.hashtag)
			}
		}
	}
	return out[:min(most, len(out))], nil
}

// exactMatches is which of the words, as one and by themselves, are known hashtags.
func (s *Store) exactMatches(ctx context.Context, platform string, words []string) ([]string, error) {
	names := slices.Compact(append([]string{strings.Join(words, "")}, words...))
	known, err := db.All(ctx, s.db, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		exactMatchQuery(len(names)), db.Args(platform, names)...)
	if err != nil {
		return nil, fmt.Errorf("looking words up as hashtags: %w", err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(known, name) }), nil
}

func exactMatchQuery(names int) string {
	return `SELECT hashtag FROM hashtags WHERE platform = ? AND hashtag IN (` + db.Marks(names) + `)`
}

// hit is a hashtag that was found, and where it stands in the index.
type hit struct {
	hashtag   string
	place, id int64
}

func (h hit) compare(other hit) int {
	return cmp.Or(cmp.Compare(h.place, other.place), cmp.Compare(h.id, other.id))
}

// endOfIndex is behind every hashtag.
var endOfIndex = hit{place: math.MaxInt64}

// runLookups is what several looks find together, the largest first.
func (s *Store) runLookups(ctx context.Context, platform string, looks []lookup, most int, b bounds) ([]hit, error) {
	var out []hit
	for _, l := range looks {
		gram, end, err := s.chooseGram(ctx, platform, l, b)
		if err != nil {
			return nil, err
		}
		hits, err := s.scanGram(ctx, platform, gram, end, l.patterns, most)
		if err != nil {
			return nil, err
		}
		out = append(out, hits...)
	}
	slices.SortFunc(out, hit.compare)
	return slices.Compact(out), nil
}

// chooseGram chooses the gram to look by, and the last of its hashtags to look at. Of grams that are all in many hashtags
// the rarest is the one whose hashtag of a certain rank is the smallest.
func (s *Store) chooseGram(ctx context.Context, platform string, l lookup, b bounds) (string, hit, error) {
	gram := l.grams[0]
	if len(l.patterns) == 0 {
		return gram, endOfIndex, nil
	}
	var rarest hit
	for n, g := range l.grams[:min(b.grams, len(l.grams))] {
		at, err := s.hitAtRank(ctx, platform, g, b.rareBelow)
		if err != nil || at == endOfIndex {
			return g, at, err
		}
		if n == 0 || at.compare(rarest) > 0 {
			gram, rarest = g, at
		}
	}
	end, err := s.hitAtRank(ctx, platform, gram, b.maxScanned)
	return gram, end, err
}

const (
	// rankQuery is where a gram's hashtag of a rank stands.
	rankQuery = `SELECT g.place, g.hashtag_id FROM hashtag_grams g WHERE g.platform = ? AND g.gram = ? ORDER BY g.place, g.hashtag_id LIMIT 1 OFFSET ?`

	// nameExpr is the hashtag of a row of the index. A long one is looked up by its id, row by row, whatever else the
	// database thinks of.
	nameExpr = `CASE WHEN g.hashtag <> '' THEN g.hashtag ELSE (SELECT h.hashtag FROM hashtags h WHERE h.id = g.hashtag_id) END`

	scanQuery   = `SELECT ` + nameExpr + `, g.place, g.hashtag_id FROM hashtag_grams g WHERE g.platform = ? AND g.gram = ? AND (g.place, g.hashtag_id) <= (?, ?)`
	likeClause  = ` AND ` + nameExpr + ` LIKE ? ESCAPE '\'`
	orderClause = ` ORDER BY g.place, g.hashtag_id LIMIT ?`
)

// hitAtRank is where a gram's hashtag of a rank stands, the largest being the first; last where there are fewer.
func (s *Store) hitAtRank(ctx context.Context, platform, gram string, rank int) (hit, error) {
	var at hit
	switch err := s.db.QueryRow(ctx, rankQuery, platform, gram, rank-1).Scan(&at.place, &at.id); {
	case errors.Is(err, sql.ErrNoRows):
		return endOfIndex, nil
	case err != nil:
		return hit{}, fmt.Errorf("looking how frequent a part of a word is: %w", err)
	}
	return at, nil
}

// scanGram reads along the hashtags of a gram, the largest first, for those that match all patterns.
func (s *Store) scanGram(ctx context.Context, platform, gram string, end hit, patterns []string, most int) ([]hit, error) {
	query, args := scanGramQuery(platform, gram, end, patterns, most)
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, h *hit) error { return rows.Scan(&h.hashtag, &h.place, &h.id) }, query, args...)
	if err != nil {
		return nil, fmt.Errorf("looking for hashtags: %w", err)
	}
	return out, nil
}

func scanGramQuery(platform, gram string, end hit, patterns []string, most int) (string, []any) {
	args := []any{platform, gram, end.place, end.id}
	for _, p := range patterns {
		args = append(args, p)
	}
	return scanQuery + strings.Repeat(likeClause, len(patterns)) + orderClause, append(args, most)
}
