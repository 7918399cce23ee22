package stats

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// benchmarkSize is the number of hashtags in the benchmarks. With -short, it is a tenth.
const benchmarkSize = 1_000_000

// words are the parts of most generated hashtags.
var words = map[string][]string{
	"latin": strings.Fields(
		`summer beach travel love food fitness style fashion home design photo nature dog cat wedding music art coffee
		garden yoga running cooking baking knitting sailing hiking climbing surfing morning evening night day life
		time the of and in my our we
		new old big small happy good best city london paris berlin lisboa roma tokyo sea sun moon river mountain winter spring
		autumn goals inspo
		gram lover lovers life style daily vibes ideas tips diy vintage natural organic vegan healthy kids baby mum dad family
		friends girl boy
		world street food truck beer wine cake bread cheese chocolate lo thing things king ring string`),
	"cyrillic": strings.Fields(
		`лето пляж любовь еда дом фото природа утро вечер жизнь город море солнце путешествие красота`),
	"arabic": strings.Fields(`صيف بحر سفر حب طعام بيت صورة صباح مساء حياة مدينة شمس جمال`),
	"indic":  strings.Fields(`यात्रा प्यार खाना घर सुबह शाम जीवन शहर समुद्र सूरज`),
	"han":    strings.Fields(`旅行 日本 東京 京都 写真 料理 海 夏 春 桜 花 生活 美食 家 猫 犬 好き 風景 大阪 カフェ ごはん`),
	"hangul": strings.Fields(`여행 사랑 음식 집 사진 아침 저녁 바다 여름 일상 서울 카페 맛집`),
}

// makeTags generates reproducible hashtags of two or three words, often with a unique suffix. Every fifth is in a
// non-Latin script. Sizes follow Zipf's law, and half are unknown.
func makeTags(count int) []known {
	random := rand.New(rand.NewPCG(20_261_122, 1))
	seen := make(map[string]bool, count)
	out := make([]known, 0, count)
	for len(out) < count {
		tag := randomTag(random)
		if seen[tag] {
			continue
		}
		seen[tag] = true
		k := known{platform: provider.Instagram, hashtag: tag}
		if random.IntN(2) == 0 {
			rank := 1 + random.IntN(count)
			posts := int64(2e9 / math.Pow(float64(rank), 1.1))
			k.posts = &posts
		}
		out = append(out, k)
	}
	return out
}

func randomTag(random *rand.Rand) string {
	scripts := []string{"cyrillic", "arabic", "indic", "han", "hangul"}
	script := "latin"
	if random.IntN(5) == 0 {
		script = scripts[random.IntN(len(scripts))]
	}
	var out strings.Builder
	for range 1 + random.IntN(3) {
		out.WriteString(words[script][random.IntN(len(words[script]))])
	}
	switch random.IntN(4) {
	case 0:
		fmt.Fprint(&out, random.IntN(3000))
	case 1:
		fmt.Fprintf(&out, "_%d", random.IntN(100))
	default:
		out.WriteString(name(random))
	}
	return out.String()
}

// name returns a random word of syllables.
func name(random *rand.Rand) string {
	const consonants, vowels = "bcdfghjklmnprstvwyz", "aeiou"
	var out strings.Builder
	for range 2 + random.IntN(3) {
		out.WriteByte(consonants[random.IntN(len(consonants))])
		out.WriteByte(vowels[random.IntN(len(vowels))])
	}
	return out.String()
}

const (
	tagsPerTransaction = 5_000 // hashtags in a transaction
	tagsPerInsert      = 200   // in a statement
)

// load inserts hashtags with the usual triggers.
func load(b *testing.B, d *db.DB, tags []known) {
	b.Helper()
	for part := range slices.Chunk(tags, tagsPerTransaction) {
		must.NoError(b, d.InTx(b.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			for some := range slices.Chunk(part, tagsPerInsert) {
				args := make([]any, 0, 3*len(some))
				for _, k := range some {
					args = append(args, k.platform, k.hashtag, k.posts)
				}
				rows := strings.TrimSuffix(strings.Repeat("(?, ?, CAST(? AS BIGINT)),", len(some)), ",")
				if _, err := tx.Exec(ctx, `INSERT INTO hashtags (platform, hashtag, posts) VALUES `+rows+`
					ON CONFLICT DO NOTHING`, args...); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// loadInBulk inserts hashtags without the trigger and then fills the index, which takes a third of the time.
func loadInBulk(b *testing.B, d *db.DB, tags []known) {
	b.Helper()
	off, on := `ALTER TABLE hashtags DISABLE TRIGGER hashtags_become_found`,
		`ALTER TABLE hashtags ENABLE TRIGGER hashtags_become_found`
	if !d.Postgres() {
		off = `DROP TRIGGER hashtags_become_found`
		must.NoError(b, d.QueryRow(b.Context(), `SELECT sql FROM sqlite_master WHERE name = 'hashtags_become_found'`).
			Scan(&on))
	}
	execSQL(b, d, off)
	load(b, d, tags)
	execSQL(b, d, `INSERT INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
		SELECT DISTINCT h.platform, SUBSTR('^' || h.hashtag, o.at, 3), COALESCE(-h.posts, 1), h.id,
			CASE WHEN LENGTH(h.hashtag) <= 32 THEN h.hashtag ELSE '' END
		FROM hashtags h JOIN hashtag_offsets o ON o.at < LENGTH(h.hashtag) ORDER BY 1, 2, 3, 4`)
	execSQL(b, d, on)
}

func execSQL(tb testing.TB, d *db.DB, statement string) {
	tb.Helper()
	must.Get(d.Writer().ExecContext(tb.Context(), statement))(tb)
}

// BenchmarkFind looks up words of each kind among a million hashtags and reports the median and the 99th percentile.
// With -v it also logs the time for adding 5,000 hashtags, and the index size per hashtag.
func BenchmarkFind(b *testing.B) {
	databases := map[string]func(testing.TB) string{"sqlite": testkit.SQLite}
	if os.Getenv(testkit.PostgresVariable) != "" {
		databases["postgres"] = testkit.Postgres
	}
	count := benchmarkSize
	if testing.Short() {
		count /= 10
	}
	tags := makeTags(count + 20*tagsPerTransaction)
	for name, fresh := range databases {
		b.Run(name, func(b *testing.B) {
			d := testkit.Open(b, fresh(b), nil)
			began := time.Now()
			loadInBulk(b, d, tags[:count])
			b.Logf("%d hashtags in %v", count, time.Since(began).Round(time.Second))
			findAmong(b, d, tags[:count])
			add(b, d, tags[count:])
		})
	}
}

func findAmong(b *testing.B, d *db.DB, tags []known) {
	b.Helper()
	b.Logf("%.0f bytes a hashtag", indexBytes(b, d)/float64(len(tags)))
	vacuum(b, d)
	random := rand.New(rand.NewPCG(7, 7))
	some := func() string { return tags[random.IntN(len(tags))].hashtag }
	for _, kind := range []struct {
		name string
		next func() []string
	}{
		{"whole", func() []string { return []string{some()} }},
		{"part", func() []string { return []string{partOf(some(), 5, random)} }},
		{"beginning2", func() []string { return []string{partOf(some(), 2, random)} }},
		{"part3", func() []string { return []string{partOf(some(), 3, random)} }},
		{"common", one(random, "ing", "lo", "the", "th", "summer", "beach", "love", "life", "string", "lovers")},
		{"common_parts_rarely_together", one(random, "inging", "andthe", "theand", "erlover", "lifelove", "ingthe",
			"stylering", "kingking", "ringthing")},
		{"absent", func() []string { return []string{"q" + name(random) + "qx"} }},
		{"absent_of_common_parts", one(random, "thethethe", "inglove_the", "lifelifelifelife", "summersummersummer",
			"lolovelo")},
		{"cjk2", one(random, "旅行", "日本", "猫好", "東京", "여행")},
		{"other_scripts", one(random, "путеше", "सूरज", "东京旅", "東京旅行", "여행사", "صباح", "ごはん旅")},
		{"long", func() []string { return []string{strings.Repeat("summerthingsoflife", 6)[:100]} }},
		{"phrase", func() []string {
			return []string{words["latin"][random.IntN(99)],
				words["latin"][random.IntN(99)]}
		}},
		{"phrase_of_five", func() []string {
			return []string{"summer", "beach", "life", "the",
				words["latin"][random.IntN(99)]}
		}},
		{"phrase_of_ten", func() []string {
			return []string{"summer", "beach", "life", "the", "ing", "love", "morning", "lovers", "string", "and"}
		}},
	} {
		b.Run(kind.name, func(b *testing.B) { measureLatency(b, New(d), kind.next) })
	}
}

// vacuum does what PostgreSQL does by itself after a while.
func vacuum(tb testing.TB, d *db.DB) {
	tb.Helper()
	statement := "ANALYZE"
	if d.Postgres() {
		statement = "VACUUM ANALYZE"
	}
	execSQL(tb, d, statement)
}

// indexBytes returns the size of the index. With SQLite, it returns the size of the whole file.
func indexBytes(b *testing.B, d *db.DB) float64 {
	b.Helper()
	query := `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	if d.Postgres() {
		query = `SELECT pg_total_relation_size('hashtag_grams')`
	}
	var size float64
	must.NoError(b, d.QueryRow(b.Context(), query).Scan(&size))
	return size
}

func one(random *rand.Rand, words ...string) func() []string {
	return func() []string { return []string{words[random.IntN(len(words))]} }
}

// partOf returns a substring of a hashtag. If the length is two, it returns the prefix.
func partOf(tag string, length int, random *rand.Rand) string {
	letters := []rune(tag)
	length = min(length, len(letters))
	at := 0
	if length > 2 {
		at = random.IntN(len(letters) - length + 1)
	}
	return string(letters[at : at+length])
}

// measureLatency reports the time of calls. It takes the minimum of three calls for the same words.
func measureLatency(b *testing.B, s *Store, next func() []string) {
	b.Helper()
	var took, shortest []time.Duration
	found := 0
	for b.Loop() {
		phrase := next()
		var tries [3]time.Duration
		for n := range tries {
			began := time.Now()
			names, err := s.matches(b.Context(), provider.Instagram, phrase, MaxMatches, defaultScanLimits)
			tries[n] = time.Since(began)
			must.NoError(b, err)
			found += len(names)
		}
		took, shortest = append(took, tries[0]), append(shortest, slices.Min(tries[:]))
	}
	report(b, "", took)
	report(b, "best-", shortest)
	b.ReportMetric(float64(found)/float64(3*len(took)), "found")
	b.ReportMetric(0, "ns/op") // would be the time of three calls
}

func report(b *testing.B, what string, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[int(share*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), what+"p50-ms")
	b.ReportMetric(at(0.99), what+"p99-ms")
}

// add measures adding 5,000 hashtags including the index.
func add(b *testing.B, d *db.DB, tags []known) {
	b.Helper()
	var took []time.Duration
	for part := range slices.Chunk(tags, tagsPerTransaction) {
		began := time.Now()
		load(b, d, part)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.Logf("added %d hashtags in %v (median), %v (maximum)", tagsPerTransaction, took[len(took)/2], took[len(took)-1])
}
