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

func mean(of []float64) float64 {
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}

func deviation(of []float64) float64 {
	m, sum := mean(of), 0.0
	for _, x := range of {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(of)-1))
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within {
		t.Errorf("%s: %.3f, want %.3f ± %.3f", what, got, want, within)
	}
}

func TestWorldProfilesVaried(t *testing.T) {
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
		face := p.Face(today, len(posts))
		if face.Followers < 500 || face.Biography == "" || face.DisplayName == "" {
			t.Errorf("%s: %+v", p.Name, face)
		}
		for _, r := range face.DisplayName + face.Biography {
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
		blocks[p.Traits().best] = true
	}
	if few < 10 || many < 10 || len(blocks) != 12 {
		t.Errorf("%d with few posts, %d with many, best blocks %v", few, many, blocks)
	}
	for _, script := range []string{"Latin", "Arabic", "Cyrillic", "Devanagari", "Han", "Hangul", "Hiragana"} {
		if !scripts[script] {
			t.Errorf("nothing is written in %s", script)
		}
	}
}

// Later days change nothing about a day, and counts only grow.
func TestWorldPastStable(t *testing.T) {
	t.Parallel()
	for _, p := range testProfiles(20) {
		before, after := p.Posts(today), p.Posts(today+30)
		if diff := cmp.Diff(before, p.Posts(today), cmp.AllowUnexported(Post{}, File{})); diff != "" {
			t.Errorf("%s, asked twice: %s", p.Name, diff)
		}
		later := map[string]Post{}
		for _, post := range after {
			later[post.ID] = post
		}
		if len(later) != len(after) || len(after) < len(before) {
			t.Errorf("%s: %d posts of %d ids, after %d", p.Name, len(after), len(later), len(before))
		}
		for _, post := range before {
			if post.At >= StartOf(today) {
				t.Errorf("%s has a post of a day that has not passed", p.Name)
			}
			was, is := post.Figures(StartOf(today)), later[post.ID].Figures(StartOf(today+30))
			if is.Likes < was.Likes || is.Comments < was.Comments || is.Shares < was.Shares || is.Views < was.Views {
				t.Errorf("%s: %+v became %+v", p.Name, was, is)
			}
		}
	}
}

func TestWorldFiguresSettle(t *testing.T) {
	t.Parallel()
	post := Post{At: 1_000_000, reactions: 10_000, comments: 0.1, shares: 0.1, Views: 50_000}
	var likes []int64
	for _, hours := range []int64{-1, 0, 1, 18, 24, 24 * 7, 24 * 30} {
		likes = append(likes, post.Figures(post.At+hours*3600).Likes)
	}
	if want := []int64{0, 0, 432, 5056, 5891, 7999, 8000}; !slices.Equal(likes, want) {
		t.Errorf("likes: %v, want %v", likes, want)
	}
}

// contrast returns how much higher the log reactions are of a profile's posts for which holds returns true, once per
// such post.
func (p Profile) contrast(holds func(Post) bool) []float64 {
	var with, without []float64
	for _, post := range p.Posts(today) {
		if holds(post) {
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

// effect returns the planted effect on a post.
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
	if blockOf(post.At) == h.best {
		effect *= blockEffect
	}
	return effect
}

// Each planted effect can be measured on its own.
func TestWorldPlantedEffects(t *testing.T) {
	t.Parallel()
	var block, tag, idle, format []float64
	for _, p := range testProfiles(80) {
		h := p.Traits()
		tagged := func(i int) func(Post) bool {
			return func(post Post) bool { return slices.Contains(post.Tags, h.tags[i].name) }
		}
		block = append(block, p.contrast(func(post Post) bool { return blockOf(post.At) == h.best })...)
		for i := range workingTags {
			tag = append(tag, p.contrast(tagged(i))...)
		}
		idle = append(idle, p.contrast(tagged(workingTags))...)
		best := h.formats[slices.IndexFunc(h.formats, func(f traitFormat) bool { return f.effect > 1 })].name
		format = append(format, p.contrast(func(post Post) bool { return post.Format == best })...)
	}
	near(t, "the block", mean(block), math.Log(blockEffect), 0.1)
	near(t, "a working hashtag", mean(tag), math.Log(hashtagEffect), 0.06)
	near(t, "another hashtag", mean(idle), 0, 0.08)
	near(t, "the best format", mean(format), math.Log(1.4/0.9), 0.12)
}

// Without the effects only the planted spread remains.
func TestWorldSpread(t *testing.T) {
	t.Parallel()
	var rest []float64
	for _, p := range testProfiles(40) {
		h := p.Traits()
		for _, post := range p.Posts(today) {
			usual := h.reactions * math.Pow(p.followersOn(h, post.At/SecondsPerDay), followerPower)
			rest = append(rest, math.Log(post.reactions/usual/h.effect(post)))
		}
	}
	near(t, "the rest", mean(rest), 0, 0.02)
	near(t, "its spread", deviation(rest), reactionSigma, 0.02)
}

func testHashtags(count int) []Hashtag {
	var hashtags []Hashtag
	for i := range count {
		hashtags = append(hashtags, Hashtag{[]string{"instagram", "tiktok"}[i%2], fmt.Sprintf("thing%d", i)})
	}
	return hashtags
}

// recentAll returns all recent posts, page by page.
func (h Hashtag) recentAll(now int64, limit int) []Post {
	var all []Post
	place, more := h.StartRecent(now), true
	for more {
		var posts []Post
		posts, place, more = h.Recent(place, limit)
		all = append(all, posts...)
	}
	return all
}

// As many posts arrive as the growth says, and later listings add only newer ones.
func TestWorldArrivals(t *testing.T) {
	t.Parallel()
	now := worldNow.Unix()
	var surplus, squares float64
	tried := 0
	for _, h := range testHashtags(300) {
		l := h.growth()
		expected := l.posts(float64(now)) - l.posts(float64(now-SecondsPerDay))
		if expected > 150 {
			continue
		}
		tried++
		posts := h.recentAll(now, 7)
		if diff := cmp.Diff(posts, h.recentAll(now, 50), cmp.AllowUnexported(Post{}, File{})); diff != "" {
			t.Errorf("#%s by pages of another size: %s", h.Name, diff)
		}
		off := (float64(len(posts)) - expected) / math.Sqrt(expected)
		surplus, squares = surplus+off, squares+off*off
		later := map[string]bool{}
		for _, post := range h.recentAll(now+3600, 50) {
			later[post.ID] = true
		}
		last := now + 1
		for _, post := range posts {
			if post.At > last || post.At <= now-SecondsPerDay || !strings.Contains(post.Caption+" ",
				"#"+h.Name+" ") && !strings.HasSuffix(post.Caption, "#"+h.Name) {
				t.Errorf("#%s: %+v", h.Name, post)
			}
			if last = post.At; post.At > now+3600-SecondsPerDay && !later[post.ID] {
				t.Errorf("#%s: %s is gone an hour later", h.Name, post.ID)
			}
		}
	}
	n := float64(tried)
	near(t, "arrivals against what is expected", surplus/n, 0, 4/math.Sqrt(n))
	near(t, "their spread", squares/n, 1, 0.4)
	if tried < 50 {
		t.Errorf("%d hashtags", tried)
	}
}

// The world exists at any time, if smaller or larger.
func TestWorldAtOtherTimes(t *testing.T) {
	t.Parallel()
	for _, year := range []int{1990, 2015, 2024, 2040, 2200} {
		now := time.Date(year, 7, 1, 12, 0, 0, 0, time.UTC)
		for _, p := range testProfiles(4) {
			posts := p.Posts(DayOf(now))
			if face := p.Face(DayOf(now), len(posts)); face.Followers < 1 || len(posts) > mostPosts || year > 2030 && len(posts) < 30 {
				t.Errorf("in %d %s has %d posts and %d followers", year, p.Name, len(posts), face.Followers)
			}
		}
		for _, h := range testHashtags(20) {
			posts, _, _ := h.Recent(h.StartRecent(now.Unix()), 20)
			if top := h.Top(DayOf(now)); (len(top) > 0) != (year > 2014) && h.growth().days > 3500 ||
				year > 2030 && len(posts) == 0 && h.growth().perDay() > 10 {
				t.Errorf("in %d #%s has %d best and %d recent posts", year, h.Name, len(top), len(posts))
			}
		}
	}
}

// A page of a large hashtag does not list all its posts.
func TestWorldLargeHashtag(t *testing.T) {
	t.Parallel()
	for _, h := range testHashtags(300) {
		if l := h.growth(); l.size < 1e7 {
			continue
		}
		now := worldNow.Unix()
		posts, _, more := h.Recent(h.StartRecent(now), 50)
		if len(posts) != 50 || !more || now-posts[49].At > 2*3600 {
			t.Errorf("#%s: %d posts, the last of %s", h.Name, len(posts), time.Unix(posts[len(posts)-1].At, 0))
		}
	}
}

// The top posts are a uniform sample of all posts.
func TestWorldTopIsUniformSample(t *testing.T) {
	t.Parallel()
	var places []float64
	kept, all := 0, 0
	for _, h := range testHashtags(60) {
		l := h.growth()
		top := h.Top(today)
		if len(top) < topPosts*9/10 {
			t.Errorf("#%s has %d", h.Name, len(top))
		}
		later := map[string]bool{}
		for _, post := range h.Top(today + 1) {
			later[post.ID] = true
		}
		for _, post := range top {
			places = append(places, l.posts(float64(post.At))/l.posts(float64(StartOf(today))))
			all++
			if later[post.ID] {
				kept++
			}
			if post.At >= StartOf(today) {
				t.Errorf("#%s: one of the best is of today", h.Name)
			}
		}
	}
	near(t, "their mean place", mean(places), 0.5, 0.015)
	near(t, "the spread of it", deviation(places), math.Sqrt(1.0/12), 0.01)
	if kept < all*98/100 {
		t.Errorf("%d of %d are still there a day later", kept, all)
	}
}

func TestWorldHashtagSizes(t *testing.T) {
	t.Parallel()
	var sizes []float64
	for _, h := range testHashtags(400) {
		l := h.growth()
		sizes = append(sizes, math.Log10(l.size))
		near(t, "the moment of a size", l.timeOf(l.posts(1.78e9)), 1.78e9, 10)
	}
	near(t, "the mean size", mean(sizes), (3+7.5)/2, 0.25)
	if slices.Min(sizes) < 3 || slices.Max(sizes) > 7.5 {
		t.Errorf("from %.2f to %.2f", slices.Min(sizes), slices.Max(sizes))
	}
}
