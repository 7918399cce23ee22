package world

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// testProfiles returns profiles of both platforms.
func testProfiles(count int) []Profile {
	var profiles []Profile
	for i := range count {
		profiles = append(profiles, Profile{[]string{"instagram", "tiktok"}[i%2], fmt.Sprintf("stranger.%d", i)})
	}
	return profiles
}

var (
	worldNow = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	today    = DayOf(worldNow)
)

func mean(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

func deviation(values []float64) float64 {
	m, sum := mean(values), 0.0
	for _, x := range values {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

func checkNear(t *testing.T, name string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within {
		t.Errorf("%s: %.3f, want %.3f ± %.3f", name, got, want, within)
	}
}

func TestProfilesVary(t *testing.T) {
	t.Parallel()
	scripts := map[string]bool{}
	var few, many int
	blocks := map[int]bool{}
	for _, p := range testProfiles(150) {
		posts := p.Posts(today)
		first := posts[len(posts)-1]
		if n := len(posts); n < 30 || n > 450 || today-first.At/SecondsPerDay < 150 {
			t.Errorf("%s has %d posts since %s", p.Name, n, time.Unix(first.At, 0))
		}
		details := p.Details(today, len(posts))
		if details.Followers < 500 || details.Biography == "" || details.DisplayName == "" {
			t.Errorf("%s: %+v", p.Name, details)
		}
		for _, r := range details.DisplayName + details.Biography {
			for name, table := range unicode.Scripts {
				if unicode.Is(table, r) {
					scripts[name] = true
				}
			}
		}
		if len(posts) < 70 {
			few++
		} else if len(posts) > 200 {
			many++
		}
		blocks[p.Traits().bestBlock] = true
	}
	if few < 10 || many < 10 || len(blocks) != 12 {
		t.Errorf("%d with few posts, %d with many, best blocks %v", few, many, blocks)
	}
	for _, script := range []string{"Latin", "Arabic", "Cyrillic", "Devanagari", "Han", "Hangul", "Hiragana"} {
		if !scripts[script] {
			t.Errorf("no profile uses the script %s", script)
		}
	}
}

// Posts of the past do not change, and their metrics never decrease.
func TestPastPostsDoNotChange(t *testing.T) {
	t.Parallel()
	for _, p := range testProfiles(20) {
		before, after := p.Posts(today), p.Posts(today+30)
		if diff := cmp.Diff(before, p.Posts(today), cmp.AllowUnexported(Post{}, File{})); diff != "" {
			t.Errorf("%s: second call: %s", p.Name, diff)
		}
		later := map[string]Post{}
		for _, post := range after {
			later[post.ID] = post
		}
		if len(later) != len(after) || len(after) < len(before) {
			t.Errorf("%s: %d posts with %d IDs, before %d posts", p.Name, len(after), len(later), len(before))
		}
		for _, post := range before {
			if post.At >= StartOf(today) {
				t.Errorf("%s has a post from the current day", p.Name)
			}
			first, last := post.Metrics(StartOf(today)), later[post.ID].Metrics(StartOf(today+30))
			if last.Likes < first.Likes || last.Comments < first.Comments || last.Shares < first.Shares || last.Views < first.Views {
				t.Errorf("%s: metrics %+v, later %+v", p.Name, first, last)
			}
		}
	}
}

func TestPostMetrics(t *testing.T) {
	t.Parallel()
	post := Post{At: 1_000_000, reactions: 10_000, comments: 0.1, shares: 0.1, Views: 50_000}
	var likes []int64
	for _, hours := range []int64{-1, 0, 1, 18, 24, 24 * 7, 24 * 30} {
		likes = append(likes, post.Metrics(post.At+hours*3600).Likes)
	}
	if want := []int64{0, 0, 432, 5056, 5891, 7999, 8000}; !slices.Equal(likes, want) {
		t.Errorf("likes: %v, want %v", likes, want)
	}
}

// contrast returns the difference in mean log reactions between matching and other posts. It repeats the difference for
// each matching post.
func (p Profile) contrast(matches func(Post) bool) []float64 {
	var with, without []float64
	for _, post := range p.Posts(today) {
		if matches(post) {
			with = append(with, math.Log(post.reactions))
		} else {
			without = append(without, math.Log(post.reactions))
		}
	}
	if len(with) == 0 || len(without) == 0 {
		return nil
	}
	return slices.Repeat([]float64{mean(with) - mean(without)}, len(with))
}

// effect returns the product of the effects on a post.
func (h Traits) effect(post Post) float64 {
	effect := 1.0
	for _, format := range h.formats {
		if format.name == post.Format {
			effect *= format.effect
		}
	}
	for _, tag := range h.tags {
		if slices.Contains(post.Tags, tag.name) {
			effect *= tag.effect
		}
	}
	if blockOf(post.At) == h.bestBlock {
		effect *= blockEffect
	}
	return effect
}

// Each effect on reactions can be measured separately.
func TestReactionEffects(t *testing.T) {
	t.Parallel()
	var block, effective, ineffective, format []float64
	for _, p := range testProfiles(80) {
		traits := p.Traits()
		hasTag := func(i int) func(Post) bool {
			return func(post Post) bool { return slices.Contains(post.Tags, traits.tags[i].name) }
		}
		block = append(block, p.contrast(func(post Post) bool { return blockOf(post.At) == traits.bestBlock })...)
		for i := range effectiveTags {
			effective = append(effective, p.contrast(hasTag(i))...)
		}
		ineffective = append(ineffective, p.contrast(hasTag(effectiveTags))...)
		best := traits.formats[slices.IndexFunc(traits.formats, func(f traitFormat) bool { return f.effect > 1 })].name
		format = append(format, p.contrast(func(post Post) bool { return post.Format == best })...)
	}
	checkNear(t, "best block", mean(block), math.Log(blockEffect), 0.1)
	checkNear(t, "effective hashtag", mean(effective), math.Log(hashtagEffect), 0.06)
	checkNear(t, "ineffective hashtag", mean(ineffective), 0, 0.08)
	checkNear(t, "best format", mean(format), math.Log(1.4/0.9), 0.12)
}

// Without the effects, reactions deviate by reactionSigma.
func TestReactionDeviation(t *testing.T) {
	t.Parallel()
	var residuals []float64
	for _, p := range testProfiles(40) {
		h := p.Traits()
		for _, post := range p.Posts(today) {
			expected := h.reactions * math.Pow(p.followersOn(h, post.At/SecondsPerDay), followerPower)
			residuals = append(residuals, math.Log(post.reactions/expected/h.effect(post)))
		}
	}
	checkNear(t, "mean of the residuals", mean(residuals), 0, 0.02)
	checkNear(t, "deviation of the residuals", deviation(residuals), reactionSigma, 0.02)
}

func testHashtags(count int) []Hashtag {
	var hashtags []Hashtag
	for i := range count {
		hashtags = append(hashtags, Hashtag{[]string{"instagram", "tiktok"}[i%2], fmt.Sprintf("thing%d", i)})
	}
	return hashtags
}

// allRecent reads all recent posts page by page.
func (h Hashtag) allRecent(now int64, limit int) []Post {
	var all []Post
	position, more := h.StartRecent(now), true
	for more {
		var posts []Post
		posts, position, more = h.Recent(position, limit)
		all = append(all, posts...)
	}
	return all
}

// The number of posts agrees with the growth, and later lists add only newer posts.
func TestHashtagArrivals(t *testing.T) {
	t.Parallel()
	now := worldNow.Unix()
	var sum, squares float64
	count := 0
	for _, h := range testHashtags(300) {
		g := h.growth()
		expected := g.posts(float64(now)) - g.posts(float64(now-SecondsPerDay))
		if expected > 150 {
			continue
		}
		count++
		posts := h.allRecent(now, 7)
		if diff := cmp.Diff(posts, h.allRecent(now, 50), cmp.AllowUnexported(Post{}, File{})); diff != "" {
			t.Errorf("#%s with another page size: %s", h.Name, diff)
		}
		difference := (float64(len(posts)) - expected) / math.Sqrt(expected)
		sum, squares = sum+difference, squares+difference*difference
		later := map[string]bool{}
		for _, post := range h.allRecent(now+3600, 50) {
			later[post.ID] = true
		}
		last := now + 1
		for _, post := range posts {
			if post.At > last || post.At <= now-SecondsPerDay || !strings.Contains(post.Caption+" ",
				"#"+h.Name+" ") && !strings.HasSuffix(post.Caption, "#"+h.Name) {
				t.Errorf("#%s: %+v", h.Name, post)
			}
			if last = post.At; post.At > now+3600-SecondsPerDay && !later[post.ID] {
				t.Errorf("#%s: an hour later, %s is missing", h.Name, post.ID)
			}
		}
	}
	n := float64(count)
	checkNear(t, "mean of the normalized arrivals", sum/n, 0, 4/math.Sqrt(n))
	checkNear(t, "variance of the normalized arrivals", squares/n, 1, 0.4)
	if count < 50 {
		t.Errorf("%d hashtags", count)
	}
}

// Profiles and hashtags exist in the distant past and future.
func TestOtherYears(t *testing.T) {
	t.Parallel()
	for _, year := range []int{1990, 2015, 2024, 2040, 2200} {
		now := time.Date(year, 7, 1, 12, 0, 0, 0, time.UTC)
		for _, p := range testProfiles(4) {
			posts := p.Posts(DayOf(now))
			details := p.Details(DayOf(now), len(posts))
			if details.Followers < 1 || len(posts) > maxPosts || year > 2030 && len(posts) < 30 {
				t.Errorf("%d: %s has %d posts and %d followers", year, p.Name, len(posts), details.Followers)
			}
		}
		for _, h := range testHashtags(20) {
			posts, _, _ := h.Recent(h.StartRecent(now.Unix()), 20)
			if top := h.Top(DayOf(now)); (len(top) > 0) != (year > 2014) && h.growth().days > 3500 ||
				year > 2030 && len(posts) == 0 && h.growth().postsPerDay() > 10 {
				t.Errorf("%d: #%s has %d top posts and %d recent posts", year, h.Name, len(top), len(posts))
			}
		}
	}
}

// A page of a large hashtag contains only the requested number of posts.
func TestRecentLimitsPage(t *testing.T) {
	t.Parallel()
	for _, h := range testHashtags(300) {
		if g := h.growth(); g.size < 1e7 {
			continue
		}
		now := worldNow.Unix()
		posts, _, more := h.Recent(h.StartRecent(now), 50)
		if len(posts) != 50 || !more || now-posts[49].At > 2*3600 {
			t.Errorf("#%s: %d posts, the last from %s", h.Name, len(posts), time.Unix(posts[len(posts)-1].At, 0))
		}
	}
}

// The top posts are a uniform sample of all posts.
func TestTopIsUniformSample(t *testing.T) {
	t.Parallel()
	var positions []float64
	kept, total := 0, 0
	for _, h := range testHashtags(60) {
		g := h.growth()
		top := h.Top(today)
		if len(top) < topPosts*9/10 {
			t.Errorf("#%s has %d top posts", h.Name, len(top))
		}
		later := map[string]bool{}
		for _, post := range h.Top(today + 1) {
			later[post.ID] = true
		}
		for _, post := range top {
			positions = append(positions, g.posts(float64(post.At))/g.posts(float64(StartOf(today))))
			total++
			if later[post.ID] {
				kept++
			}
			if post.At >= StartOf(today) {
				t.Errorf("#%s: a top post is from the current day", h.Name)
			}
		}
	}
	checkNear(t, "mean position", mean(positions), 0.5, 0.015)
	checkNear(t, "deviation of the positions", deviation(positions), math.Sqrt(1.0/12), 0.01)
	if kept < total*98/100 {
		t.Errorf("%d of %d top posts are still listed a day later", kept, total)
	}
}

func TestHashtagSizes(t *testing.T) {
	t.Parallel()
	var sizes []float64
	for _, h := range testHashtags(400) {
		g := h.growth()
		sizes = append(sizes, math.Log10(g.size))
		checkNear(t, "time of a size", g.timeAt(g.posts(1.78e9)), 1.78e9, 10)
	}
	checkNear(t, "mean size", mean(sizes), (3+7.5)/2, 0.25)
	if slices.Min(sizes) < 3 || slices.Max(sizes) > 7.5 {
		t.Errorf("log sizes from %.2f to %.2f", slices.Min(sizes), slices.Max(sizes))
	}
}
