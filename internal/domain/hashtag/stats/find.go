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

	"pressroom.example/pressroom/internal/platform/db"
)

// MaxMatches is the maximum number of hashtags a lookup returns.
const MaxMatches = 200

// scanLimits limits how much of the trigram index one lookup reads. For each trigram ("gram"), the index lists the
// hashtags that contain it, by size. A prefix of two characters or a word of three is read directly from one gram. A
// longer word is matched against the hashtags of its rarest gram. If every gram of the word is in more than maxScanned
// hashtags, only the largest hashtags are considered. Otherwise a lookup is exhaustive.
type scanLimits struct {
	maxGrams   int // maximum number of grams compared to find the rarest
	rareBelow  int // the first compared gram that is in fewer hashtags than this is used
	maxScanned int // maximum number of hashtags scanned, the largest first
}

// defaultScanLimits keeps a lookup at a few milliseconds on both databases, independent of the number of hashtags.
var defaultScanLimits = scanLimits{maxGrams: 16, rareBelow: 500, maxScanned: 10_000}

// split returns the limits for each of several lookups, so that together they read no more than a single lookup.
func (l scanLimits) split(lookups int) scanLimits {
	return scanLimits{maxGrams: max(1, l.maxGrams/lookups), rareBelow: max(1, l.rareBelow/lookups),
		maxScanned: max(1, l.maxScanned/lookups)}
}

// Find returns the known hashtags that match a word. A word of two characters matches the beginning of a hashtag. A
// longer word matches anywhere. An exact match comes first, then the largest hashtags. Hashtags of unknown size come
// last. Hashtags of the same size are in the order of their discovery.
func (s *Store) Find(ctx context.Context, platform, word string, limit int) ([]Statistics, error) {
	return s.Matches(ctx, platform, []string{word}, limit)
}

// Matches returns the known hashtags for a phrase. Hashtags that equal the joined words come first, then hashtags that
// equal a single word. Hashtags that contain all words follow, largest first. Hashtags that contain any word are last,
// ordered as by Find. Matches ignores characters that no hashtag contains, and words after the tenth.
func (s *Store) Matches(ctx context.Context, platform string, words []string, limit int) ([]Statistics, error) {
	names, err := s.matches(ctx, platform, words, min(limit, MaxMatches), defaultScanLimits)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	statistics, err := s.Get(ctx, s.db, platform, names)
	if err != nil {
		return nil, err
	}
	out := make([]Statistics, len(names))
	for n, name := range names {
		f, found := statistics[name]
		if !found {
			f = Statistics{Platform: platform, Hashtag: name}
		}
		out[n] = f
	}
	return out, nil
}

func (s *Store) matches(ctx context.Context, platform string, words []string, limit int, scan scanLimits) ([]string, error) {
	words = normalizeWords(words)
	if len(words) == 0 || limit < 1 {
		return nil, nil
	}
	out, err := s.exactMatches(ctx, platform, words)
	if err != nil {
		return nil, err
	}
	for _, lookups := range [][]lookup{lookupsForAll(words), lookupsForAny(words)} {
		if len(out) >= limit || len(lookups) == 0 {
			continue
		}
		hits, err := s.runLookups(ctx, platform, lookups, limit, scan.split(len(lookups)))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if !slices.Contains(out, h.hashtag) {
				out = append(out, h.hashtag)
			}
		}
	}
	return out[:min(limit, len(out))], nil
}

// exactMatches returns the known hashtags that equal the joined words or one of the words, in this order.
func (s *Store) exactMatches(ctx context.Context, platform string, words []string) ([]string, error) {
	names := slices.Compact(append([]string{strings.Join(words, "")}, words...))
	existing, err := db.All(ctx, s.db, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		exactMatchQuery(len(names)), db.Args(platform, names)...)
	if err != nil {
		return nil, fmt.Errorf("looking up words as hashtags: %w", err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(existing, name) }), nil
}

func exactMatchQuery(names int) string {
	return `SELECT hashtag FROM hashtags WHERE platform = ? AND hashtag IN (` + db.Placeholders(names) + `)`
}

// hit is a matching hashtag and its position in the list of a gram. The list is ordered by position and ID.
type hit struct {
	hashtag      string
	position, id int64
}

func (h hit) compare(other hit) int {
	return cmp.Or(cmp.Compare(h.position, other.position), cmp.Compare(h.id, other.id))
}

// endOfIndex sorts after every hashtag.
var endOfIndex = hit{position: math.MaxInt64}

// runLookups returns the combined hits of several lookups, the largest first.
func (s *Store) runLookups(ctx context.Context, platform string, lookups []lookup, limit int, b scanLimits) ([]hit, error) {
	var out []hit
	for _, l := range lookups {
		gram, end, err := s.chooseGram(ctx, platform, l, b)
		if err != nil {
			return nil, err
		}
		hits, err := s.scanGram(ctx, platform, gram, end, l.patterns, limit)
		if err != nil {
			return nil, err
		}
		out = append(out, hits...)
	}
	slices.SortFunc(out, hit.compare)
	return slices.Compact(out), nil
}

// chooseGram returns the gram to scan and the last position to scan. Among frequent grams, the rarest is the gram whose
// hashtag at the rank rareBelow is the smallest.
func (s *Store) chooseGram(ctx context.Context, platform string, l lookup, b scanLimits) (string, hit, error) {
	gram := l.grams[0]
	if len(l.patterns) == 0 {
		return gram, endOfIndex, nil
	}
	var rarestHit hit
	for n, g := range l.grams[:min(b.maxGrams, len(l.grams))] {
		h, err := s.hitAtRank(ctx, platform, g, b.rareBelow)
		if err != nil || h == endOfIndex {
			return g, h, err
		}
		if n == 0 || h.compare(rarestHit) > 0 {
			gram, rarestHit = g, h
		}
	}
	end, err := s.hitAtRank(ctx, platform, gram, b.maxScanned)
	return gram, end, err
}

const (
	rankQuery = `SELECT g.place, g.hashtag_id FROM hashtag_grams g WHERE g.platform = ? AND g.gram = ?
		ORDER BY g.place, g.hashtag_id LIMIT 1 OFFSET ?`

	// nameExpr is an SQL expression for the hashtag of an index row. Long hashtags are looked up by ID in a subquery,
	// which keeps the planner from joining.
	nameExpr = `CASE WHEN g.hashtag <> '' THEN g.hashtag ELSE (SELECT h.hashtag FROM hashtags h
		WHERE h.id = g.hashtag_id) END`

	scanQuery = `SELECT ` + nameExpr + `, g.place, g.hashtag_id FROM hashtag_grams g WHERE g.platform = ?
		AND g.gram = ? AND (g.place, g.hashtag_id) <= (?, ?)`
	likeClause  = ` AND ` + nameExpr + ` LIKE ? ESCAPE '\'`
	orderClause = ` ORDER BY g.place, g.hashtag_id LIMIT ?`
)

// hitAtRank returns the position of a gram's hashtag with the given rank. The largest hashtag has rank 1. It returns
// endOfIndex if the gram has fewer hashtags.
func (s *Store) hitAtRank(ctx context.Context, platform, gram string, rank int) (hit, error) {
	var out hit
	switch err := s.db.QueryRow(ctx, rankQuery, platform, gram, rank-1).Scan(&out.position, &out.id); {
	case errors.Is(err, sql.ErrNoRows):
		return endOfIndex, nil
	case err != nil:
		return hit{}, fmt.Errorf("reading the frequency of a trigram: %w", err)
	}
	return out, nil
}

// scanGram returns the hashtags of a gram that match all patterns, the largest first.
func (s *Store) scanGram(ctx context.Context, platform, gram string, end hit, patterns []string,
	limit int) ([]hit, error) {
	query, args := scanGramQuery(platform, gram, end, patterns, limit)
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, h *hit) error { return rows.Scan(&h.hashtag, &h.position, &h.id) },
		query, args...)
	if err != nil {
		return nil, fmt.Errorf("searching hashtags: %w", err)
	}
	return out, nil
}

func scanGramQuery(platform, gram string, end hit, patterns []string, limit int) (string, []any) {
	args := []any{platform, gram, end.position, end.id}
	for _, p := range patterns {
		args = append(args, p)
	}
	return scanQuery + strings.Repeat(likeClause, len(patterns)) + orderClause, append(args, limit)
}
