package sandbox

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
func testProfiles(count int) []worldProfile {
	var profiles []worldProfile
	for i := range count {
		profiles = append(profiles, worldProfile{[]string{"instagram", "tiktok"}[i%2], fmt.Sprintf("stranger.%d", i)})
	}
	return profiles
}

var (
	worldNow = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	today    = dayOf(worldNow)
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

func TestWorldProfilesAreVaried(t *testing.T) {
	t.Parallel()
	scripts := map[string]bool{}
	var few, many int
	blocks := map[int]bool{}
	for _, p := range testProfiles(150) {
		posts := p.posts(today)
		first := posts[len(posts)-1]
		if n := len(posts); n < 30 || n > 450 || today-first.at/secondsPerDay < 150 {
			t.Errorf("%s has %d posts since %s", p.name, n, time.Unix(first.at, 0))
		}
		face := p.face(today, len(posts))
		if face.followers < 500 || face.biography == "" || face.displayName == "" {
			t.Errorf("%s: %+v", p.name, face)
		}
		for _, r := range face.displayName + face.biography {
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
		blocks[p.habits().best] = true
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
func TestWorldKeepsWhatWas(t *testing.T) {
	t.Parallel()
	for _, p := range testProfiles(20) {
		before, after := p.posts(today), p.posts(today+30)
		if diff := cmp.Diff(before, p.posts(today), cmp.AllowUnexported(worldPost{}, worldFile{})); diff != "" {
			t.Errorf("%s, asked twice: %s", p.name, diff)
		}
		later := map[string]worldPost{}
		for _, post := range after {
			later[post.id] = post
		}
		if len(later) != len(after) || len(after) < len(before) {
			t.Errorf("%s: %d posts of %d ids, after %d", p.name, len(after), len(later), len(before))
		}
		for _, post := range before {
			if post.at >= startOf(today) {
				t.Errorf("%s has a post of a day that has not passed", p.name)
			}
			was, is := post.figures(startOf(today)), later[post.id].figures(startOf(today+30))
			if is.likes < was.likes || is.comments < was.comments || is.shares < was.shares || is.views < was.views {
				t.Errorf("%s: %+v became %+v", p.name, was, is)
			}
		}
	}
}

func TestWorldFiguresSettle(t *testing.T) {
	t.Parallel()
	post := worldPost{at: 1_000_000, reactions: 10_000, comments: 0.1, shares: 0.1, views: 50_000}
	var likes []int64
	for _, hours := range []int64{-1, 0, 1, 18, 24, 24 * 7, 24 * 30} {
		likes = append(likes, post.figures(post.at+hours*3600).likes)
	}
	if want := []int64{0, 0, 432, 5056, 5891, 7999, 8000}; !slices.Equal(likes, want) {
		t.Errorf("likes: %v, want %v", likes, want)
	}
}

// contrast returns how much higher the log reactions are of a profile's posts for which holds returns true, once per
// such post.
func (p worldProfile) contrast(holds func(worldPost) bool) []float64 {
	var with, without []float64
	for _, post := range p.posts(today) {
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
func (h habits) effect(post worldPost) float64 {
	effect := 1.0
	for _, format := range h.formats {
		if format.name == post.format {
			effect *= format.effect
		}
	}
	for _, tag := range h.tags {
		if slices.Contains(post.tags, tag.name) {
			effect *= tag.effect
		}
	}
	if blockOf(post.at) == h.best {
		effect *= blockEffect
	}
	return effect
}

// Each planted effect can be measured on its own.
func TestWorldPlantedEffects(t *testing.T) {
	t.Parallel()
	var block, tag, idle, format []float64
	for _, p := range testProfiles(80) {
		h := p.habits()
		tagged := func(i int) func(worldPost) bool {
			return func(post worldPost) bool { return slices.Contains(post.tags, h.tags[i].name) }
		}
		block = append(block, p.contrast(func(post worldPost) bool { return blockOf(post.at) == h.best })...)
		for i := range workingTags {
			tag = append(tag, p.contrast(tagged(i))...)
		}
		idle = append(idle, p.contrast(tagged(workingTags))...)
		best := h.formats[slices.IndexFunc(h.formats, func(f habitFormat) bool { return f.effect > 1 })].name
		format = append(format, p.contrast(func(post worldPost) bool { return post.format == best })...)
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
		h := p.habits()
		for _, post := range p.posts(today) {
			usual := h.reactions * math.Pow(p.followersOn(h, post.at/secondsPerDay), followerPower)
			rest = append(rest, math.Log(post.reactions/usual/h.effect(post)))
		}
	}
	near(t, "the rest", mean(rest), 0, 0.02)
	near(t, "its spread", deviation(rest), reactionSigma, 0.02)
}

func testHashtags(count int) []worldHashtag {
	var hashtags []worldHashtag
	for i := range count {
		hashtags = append(hashtags, worldHashtag{[]string{"instagram", "tiktok"}[i%2], fmt.Sprintf("thing%d", i)})
	}
	return hashtags
}

// recentAll returns all recent posts, page by page.
func (h worldHashtag) recentAll(now int64, most int) []worldPost {
	var all []worldPost
	place, more := h.lately(now), true
	for more {
		var posts []worldPost
		posts, place, more = h.recent(place, most)
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
		l := h.life()
		expected := l.posts(float64(now)) - l.posts(float64(now-secondsPerDay))
		if expected > 150 {
			continue
		}
		tried++
		posts := h.recentAll(now, 7)
		if diff := cmp.Diff(posts, h.recentAll(now, 50), cmp.AllowUnexported(worldPost{}, worldFile{})); diff != "" {
			t.Errorf("#%s by pages of another size: %s", h.name, diff)
		}
		off := (float64(len(posts)) - expected) / math.Sqrt(expected)
		surplus, squares = surplus+off, squares+off*off
		later := map[string]bool{}
		for _, post := range h.recentAll(now+3600, 50) {
			later[post.id] = true
		}
		last := now + 1
		for _, post := range posts {
			if post.at > last || post.at <= now-secondsPerDay || !strings.Contains(post.caption+" ",
				"#"+h.name+" ") && !strings.HasSuffix(post.caption, "#"+h.name) {
				t.Errorf("#%s: %+v", h.name, post)
			}
			if last = post.at; post.at > now+3600-secondsPerDay && !later[post.id] {
				t.Errorf("#%s: %s is gone an hour later", h.name, post.id)
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
			posts := p.posts(dayOf(now))
			if face := p.face(dayOf(now), len(posts)); face.followers < 1 || len(posts) > mostPosts || year > 2030 && len(posts) < 30 {
				t.Errorf("in %d %s has %d posts and %d followers", year, p.name, len(posts), face.followers)
			}
		}
		for _, h := range testHashtags(20) {
			posts, _, _ := h.recent(h.lately(now.Unix()), 20)
			if top := h.top(dayOf(now)); (len(top) > 0) != (year > 2014) && h.life().days > 3500 ||
				year > 2030 && len(posts) == 0 && h.life().perDay() > 10 {
				t.Errorf("in %d #%s has %d best and %d recent posts", year, h.name, len(top), len(posts))
			}
		}
	}
}

// A page of a large hashtag does not list all its posts.
func TestWorldLargeHashtag(t *testing.T) {
	t.Parallel()
	for _, h := range testHashtags(300) {
		if l := h.life(); l.size < 1e7 {
			continue
		}
		now := worldNow.Unix()
		posts, _, more := h.recent(h.lately(now), 50)
		if len(posts) != 50 || !more || now-posts[49].at > 2*3600 {
			t.Errorf("#%s: %d posts, the last of %s", h.name, len(posts), time.Unix(posts[len(posts)-1].at, 0))
		}
	}
}

// The top posts are a uniform sample of all posts.
func TestWorldTopIsAFairSample(t *testing.T) {
	t.Parallel()
	var places []float64
	kept, all := 0, 0
	for _, h := range testHashtags(60) {
		l := h.life()
		top := h.top(today)
		if len(top) < topPosts*9/10 {
			t.Errorf("#%s has %d", h.name, len(top))
		}
		later := map[string]bool{}
		for _, post := range h.top(today + 1) {
			later[post.id] = true
		}
		for _, post := range top {
			places = append(places, l.posts(float64(post.at))/l.posts(float64(startOf(today))))
			all++
			if later[post.id] {
				kept++
			}
			if post.at >= startOf(today) {
				t.Errorf("#%s: one of the best is of today", h.name)
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
		l := h.life()
		sizes = append(sizes, math.Log10(l.size))
		near(t, "the moment of a size", l.reached(l.posts(1.78e9)), 1.78e9, 10)
	}
	near(t, "the mean size", mean(sizes), (3+7.5)/2, 0.25)
	if slices.Min(sizes) < 3 || slices.Max(sizes) > 7.5 {
		t.Errorf("from %.2f to %.2f", slices.Min(sizes), slices.Max(sizes))
	}
}
