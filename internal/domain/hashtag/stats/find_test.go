package stats

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// known is a hashtag in a test.
type known struct {
	platform, hashtag string
	posts             *int64
}

func knownWithSize(hashtag string, posts int64) known {
	return known{provider.Instagram, hashtag, &posts}
}

func knownWithoutSize(hashtag string) known {
	return known{platform: provider.Instagram, hashtag: hashtag}
}

// addHashtags inserts hashtags, or sets the sizes of existing ones.
func addHashtags(t rapid.TB, d *db.DB, tags ...known) {
	t.Helper()
	change(t, d, func(ctx context.Context, tx *db.Tx) error {
		for _, k := range tags {
			_, err := tx.Exec(ctx, `INSERT INTO hashtags (platform, hashtag, posts) VALUES (?, ?, ?)
				ON CONFLICT (platform, hashtag) DO UPDATE SET posts = excluded.posts`, k.platform, k.hashtag, k.posts)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func change(t rapid.TB, d *db.DB, work func(context.Context, *db.Tx) error) {
	t.Helper()
	must.NoError(t, d.InTx(context.Background(), "test", work))
}

// readHashtags returns all hashtags, the largest first.
func readHashtags(t rapid.TB, d *db.DB, platform string) []string {
	t.Helper()
	names := must.Get(db.All(context.Background(), d, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		`SELECT hashtag FROM hashtags WHERE platform = ?
			ORDER BY CASE WHEN posts IS NULL THEN 1 ELSE 0 END, posts DESC, id`, platform))(t)
	return names
}

// matchesWord is a simple implementation of Find's condition.
func matchesWord(tag, word string) bool {
	switch utf8.RuneCountInString(word) {
	case 0, 1:
		return false
	case 2:
		return strings.HasPrefix(tag, word)
	}
	return strings.Contains(tag, word)
}

// rank is a simple implementation of the order of Matches: the group of a hashtag, or none.
func rank(tag string, words []string) int {
	const all, some, none = 100, 101, 102
	if tag == strings.Join(words, "") {
		return 0
	}
	if at := slices.Index(words, tag); at >= 0 {
		return 1 + at
	}
	matched := func(word string) bool { return matchesWord(tag, word) }
	long := func(word string) bool { return utf8.RuneCountInString(word) > 2 }
	contained := func(word string) bool { return strings.Contains(tag, word) }
	one := slices.ContainsFunc(words, matched)
	switch every := !slices.ContainsFunc(words, func(word string) bool { return !contained(word) }); {
	case every && len(words) > 1 && (slices.ContainsFunc(words, long) || one || matched(strings.Join(words, ""))):
		return all
	case one:
		return some
	}
	return none
}

// expectedMatches returns the result of a full scan.
func expectedMatches(known, words []string, limit int) []string {
	var out []string
	for group := range 102 {
		for _, tag := range known {
			if rank(tag, words) == group {
				out = append(out, tag)
			}
		}
	}
	return out[:min(limit, len(out))]
}

// grams returns the rows of the index.
func grams(t rapid.TB, d *db.DB) []string {
	t.Helper()
	lines := must.Get(db.All(context.Background(), d, func(rows *sql.Rows, line *string) error {
		var platform, gram, hashtag string
		var place, id int64
		err := rows.Scan(&platform, &gram, &place, &id, &hashtag)
		*line = fmt.Sprint(platform, gram, place, id, hashtag)
		return err
	}, `SELECT platform, gram, place, hashtag_id, hashtag FROM hashtag_grams`))(t)
	slices.Sort(lines)
	return lines
}

// expectedGrams returns the rows that the index should have.
func expectedGrams(t rapid.TB, d *db.DB) []string {
	t.Helper()
	groups := must.Get(db.All(context.Background(), d, func(rows *sql.Rows, lines *[]string) error {
		var platform, hashtag string
		var posts *int64
		var id int64
		if err := rows.Scan(&id, &platform, &hashtag, &posts); err != nil {
			return err
		}
		place := int64(1)
		if posts != nil {
			place = -*posts
		}
		letters := []rune("^" + hashtag)
		if len(letters) > 33 {
			hashtag = ""
		}
		for at := range len(letters) - 2 {
			*lines = append(*lines, fmt.Sprint(platform, string(letters[at:at+3]), place, id, hashtag))
		}
		return nil
	}, `SELECT id, platform, hashtag, posts FROM hashtags`))(t)
	lines := slices.Concat(groups...)
	slices.Sort(lines)
	return slices.Compact(lines)
}

// drawTag generates hashtags of few characters, so that they share grams.
func drawTag(longest int) *rapid.Generator[string] {
	letter := rapid.SampledFrom([]rune("aaabl_7é東京ा"))
	return rapid.StringOfN(letter, 1, longest, -1)
}

func drawKnown() *rapid.Generator[known] {
	return rapid.Custom(func(t *rapid.T) known {
		return known{
			platform: rapid.SampledFrom([]string{provider.Instagram, provider.Instagram, provider.TikTok}).
				Draw(t, "platform"),
			hashtag: rapid.OneOf(drawTag(9), drawTag(9), drawTag(40)).Draw(t, "hashtag"),
			posts:   rapid.Ptr(rapid.Int64Range(0, 3), true).Draw(t, "posts"),
		}
	})
}

// After any sequence of changes, a lookup returns the same hashtags as a full scan, in the same order.
func TestFindMatchesFullScan(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		s := New(d)
		rapid.Check(t, func(t *rapid.T) {
			change(t, d, func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `DELETE FROM hashtags`)
				return err
			})
			tags := rapid.SliceOfN(drawKnown(), 0, 40).Draw(t, "hashtags")
			addHashtags(t, d, tags...)
			if len(tags) > 0 {
				forgotten := rapid.SampledFrom(tags).Draw(t, "forgotten")
				change(t, d, func(ctx context.Context, tx *db.Tx) error {
					_, err := tx.Exec(ctx, `DELETE FROM hashtags WHERE platform = ? AND hashtag = ?`,
						forgotten.platform, forgotten.hashtag)
					return err
				})
			}
			if diff := cmp.Diff(expectedGrams(t, d), grams(t, d), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("the index (-want +got):\n%s", diff)
			}
			there := readHashtags(t, d, provider.Instagram)
			for _, words := range rapid.SliceOfN(rapid.SliceOfNDistinct(drawTag(4), 1, 3, rapid.ID), 1, 8).
				Draw(t, "phrases") {
				most := rapid.IntRange(0, 20).Draw(t, "most")
				got := must.Get(s.matches(context.Background(), provider.Instagram, words, most, defaultScanLimits))(t)
				if diff := cmp.Diff(expectedMatches(there, words, most), got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%q (-want +got):\n%s", words, diff)
				}
			}
		})
	})
}

// For any bounds, results match and are in order. Words of two and three characters find all hashtags.
func TestNarrowBoundsOnlyOmit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		s := New(d)
		addHashtags(t, d, rapid.SliceOfN(drawKnown(), 300, 300).Example(7)...)
		there := readHashtags(t, d, provider.Instagram)
		rapid.Check(t, func(t *rapid.T) {
			b := scanLimits{maxGrams: rapid.IntRange(1, 3).Draw(t, "grams"), rareBelow: rapid.IntRange(1, 5).Draw(t, "few"),
				maxScanned: rapid.IntRange(1, 20).Draw(t, "walked")}
			words := []string{drawTag(5).Draw(t, "word")}
			got := must.Get(s.matches(context.Background(), provider.Instagram, words, MaxMatches, b))(t)
			want := expectedMatches(there, words, MaxMatches)
			if short := utf8.RuneCountInString(words[0]) < 4; short && !slices.Equal(want, got) {
				t.Fatalf("%q: %q, not %q", words, got, want)
			}
			for _, tag := range got {
				at := slices.Index(want, tag)
				if at < 0 {
					t.Fatalf("%q found %q, which does not match or is not next", words, tag)
				}
				want = want[at+1:]
			}
		})
	})
}

// A word with only frequent grams is searched only among the largest hashtags, up to the limit.
func TestScanLimit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		s := New(d)
		for n := range 50 {
			addHashtags(t, d, knownWithSize(fmt.Sprintf("abcxbcd%02d", n), int64(1000-n)))
		}
		addHashtags(t, d, knownWithSize("xabcdx", 960), knownWithoutSize("yabcdy"))
		for _, c := range []struct {
			walked int
			want   []string
		}{{41, nil}, {42, []string{"xabcdx"}}, {51, []string{"xabcdx"}}, {52, []string{"xabcdx", "yabcdy"}},
			{53, []string{"xabcdx", "yabcdy"}}} {
			got, err := s.matches(t.Context(), provider.Instagram, []string{"abcd"}, 10, scanLimits{maxGrams: 2, rareBelow: 10,
				maxScanned: c.walked})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("among %d: %q, not %q (%v)", c.walked, got, c.want, err)
			}
		}
		// A word with a rare gram is found for any bounds.
		got, err := s.matches(t.Context(), provider.Instagram, []string{"abcdy"}, 10, scanLimits{maxGrams: 3, rareBelow: 10,
			maxScanned: 1})
		if err != nil || !slices.Equal(got, []string{"yabcdy"}) {
			t.Errorf("word with a rare gram: %q (%v)", got, err)
		}
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		s := New(d)
		long := strings.Repeat("ü", provider.MaxHashtag-3) + "end"
		addHashtags(t, d, knownWithoutSize("beachside"), knownWithSize("summerbeach", 500), knownWithSize("beach", 10),
			knownWithSize("beaches", 9_000), knownWithSize("thebeach", 90), knownWithSize("be", 3),
			knownWithSize("beachsummer", 700), knownWithSize("summer", 20), knownWithSize("summerday", 40),
			knownWithSize("summer_beach", 600), knownWithSize("summertimebeaches", 5), knownWithoutSize("a_b"),
			knownWithSize("axb", 7), knownWithSize("a_bc", 8),
			knownWithSize("日本旅行", 80), knownWithSize("旅行", 60), knownWithSize("旅行好き", 70), knownWithSize("一人旅行中", 50),
			knownWithSize("путешествие", 4), knownWithSize("हिन्दी", 5), knownWithSize(long, 1),
			knownWithSize("ab", 9), knownWithSize("x", 5))
		addHashtags(t, d, known{platform: provider.TikTok, hashtag: "beachball"})
		for _, c := range []struct {
			words []string
			want  []string
		}{
			{[]string{"beach"}, []string{"beach", "beaches", "beachsummer", "summer_beach", "summerbeach", "thebeach",
				"summertimebeaches", "beachside"}},
			{[]string{"#BEACH"}, []string{"beach", "beaches", "beachsummer", "summer_beach", "summerbeach", "thebeach",
				"summertimebeaches", "beachside"}},
			{[]string{"be"}, []string{"be", "beaches", "beachsummer", "beach", "beachside"}},
			{[]string{"a_b"}, []string{"a_b", "a_bc"}},
			{[]string{"_b"}, nil},
			{[]string{"_be"}, []string{"summer_beach"}},
			{[]string{"a%b"}, nil},
			{[]string{`a\b`}, nil},
			{[]string{"%"}, nil},
			{[]string{""}, nil},
			{[]string{"\x00be"}, nil},
			{[]string{"\xff"}, nil},
			{[]string{strings.Repeat("b", 101)}, nil},
			{[]string{"x"}, []string{"x"}},
			{[]string{"b"}, nil},
			{[]string{"旅行"}, []string{"旅行", "旅行好き"}},
			{[]string{"旅行好"}, []string{"旅行好き"}},
			{[]string{"ПУТЕШ"}, []string{"путешествие"}},
			{[]string{"न्द"}, []string{"हिन्दी"}},
			{[]string{"üend"}, []string{long}},
			{[]string{"zzz"}, nil},
			{[]string{"summer", "beach"}, []string{"summerbeach", "summer", "beach", "beachsummer", "summer_beach",
				"summertimebeaches", "beaches", "thebeach", "summerday", "beachside"}},
			{[]string{"beach", "summer"}, []string{"beachsummer", "beach", "summer", "summer_beach", "summerbeach",
				"summertimebeaches", "beaches", "thebeach", "summerday", "beachside"}},
			{[]string{"日本", "旅行"}, []string{"日本旅行", "旅行", "旅行好き"}},
			{[]string{"旅行", "日本"}, []string{"旅行", "日本旅行", "旅行好き"}},
			{[]string{"summer", "!", "summer", "day"}, []string{"summerday", "summer", "beachsummer", "summer_beach",
				"summerbeach", "summertimebeaches"}},
		} {
			got := must.Get(s.matches(t.Context(), provider.Instagram, c.words, MaxMatches, defaultScanLimits))(t)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.words, diff)
			}
		}
	})
}

// The number of lookups per phrase is limited. Together they read no more than a single lookup.
func TestPhraseLookupLimit(t *testing.T) {
	t.Parallel()
	var words []string
	for n := range 40 {
		words = append(words, fmt.Sprintf("word%02d", n))
	}
	if got := normalizeWords(words); !slices.Equal(got, words[:maxWords]) {
		t.Errorf("%q", got)
	}
	for looks := 1; looks <= maxWords+1; looks++ {
		if b := defaultScanLimits.split(looks); b.maxScanned*looks > defaultScanLimits.maxScanned ||
			b.maxGrams*looks > defaultScanLimits.maxGrams || b.maxGrams < 1 {
			t.Errorf("%d looks: %+v", looks, b)
		}
	}
}

// Results have the known metrics. Unknown sizes are omitted.
func TestFindReturnsMetrics(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		addHashtags(t, d, knownWithoutSize("seaside"), knownWithSize("sea", 0), knownWithSize("seagull", 1_200))
		change(t, d, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE hashtags SET basis = 'measured', measured_at = 1 WHERE posts IS NOT NULL`)
			return err
		})
		got := must.Get(New(d).Find(t.Context(), provider.Instagram, "sea", 3))(t)
		at := db.Time(1)
		want := []Statistics{
			{Platform: provider.Instagram, Hashtag: "sea", Posts: &hashtaganalysis.TagPosts{Count: 0, Basis: "measured"},
				MeasuredAt: at},
			{Platform: provider.Instagram, Hashtag: "seagull", Posts: &hashtaganalysis.TagPosts{Count: 1_200,
				Basis: "measured"}, MeasuredAt: at},
			{Platform: provider.Instagram, Hashtag: "seaside"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got, err := New(d).Find(t.Context(), provider.Instagram, "sea", -1); err != nil || len(got) != 0 {
			t.Errorf("%v (%v)", got, err)
		}
	})
}
