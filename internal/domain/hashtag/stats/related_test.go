package stats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/domain/hashtag/syntheticrelated"
	"pressroom.example/pressroom/internal/domain/provider"
)

// sampledPosts stores posts of a synthetic network.
type sampledPosts struct {
	target map[int64]storedPost
	sample []storedPost
}

func (c *sampledPosts) add(posts []provider.Post, under string) {
	for _, p := range posts {
		m := storedPost{id: int64(len(c.sample)), networkID: p.ID, hashtags: p.Hashtags}
		if under != "" {
			m.foundUnder = []string{under}
			m.hashtags = union(m.hashtags, m.foundUnder)
		}
		c.sample = append(c.sample, m)
		if under == syntheticrelated.SubjectTag(0) {
			c.target[m.id] = m
		}
	}
}

// samplePosts samples posts under each subject's hashtag, under a common hashtag, and under no hashtag.
func samplePosts(n syntheticrelated.Network) *sampledPosts {
	c := &sampledPosts{target: map[int64]storedPost{}}
	for i := range n.Subjects {
		c.add(n.PostsUnder(i, 100), syntheticrelated.SubjectTag(i))
	}
	c.add(n.PostsUnderCommon("everywhere3", 200), "everywhere3")
	c.add(n.PostsAnywhere(150), "")
	return c
}

const networkCount = 300

// Related hashtags come before common hashtags.
func TestRelatedFirst(t *testing.T) {
	t.Parallel()
	first := 0
	for seed := range uint64(networkCount) {
		n := syntheticrelated.RandomNetwork(seed, true)
		c := samplePosts(n)
		found := rankRelated(c.target, c.sample, []string{syntheticrelated.SubjectTag(0)})
		if len(found) >= len(n.CompanionShares) && !slices.ContainsFunc(found[:len(n.CompanionShares)], func(r RelatedHashtag) bool {
			return !strings.HasPrefix(r.Hashtag, "companion")
		}) {
			first++
		}
	}
	t.Logf("first in %d of %d", first, networkCount)
	if first < networkCount*9/10 {
		t.Errorf("the related hashtags are first in %d of %d networks", first, networkCount)
	}
}

// If no hashtag is related, false positives are rare, although the sample is biased: many posts with the hashtag were
// found under other hashtags.
func TestFalsePositiveRate(t *testing.T) {
	t.Parallel()
	claimed := 0
	for seed := range uint64(networkCount) {
		n := syntheticrelated.RandomNetwork(seed, false)
		c := samplePosts(n)
		if found := rankRelated(c.target, c.sample, []string{syntheticrelated.SubjectTag(0)}); len(found) > 0 {
			t.Logf("seed %d: %+v", seed, found[0])
			claimed++
		}
	}
	t.Logf("claimed in %d of %d", claimed, networkCount)
	if claimed > networkCount/20 {
		t.Errorf("false positives in %d of %d networks without related hashtags", claimed, networkCount)
	}
}

// All posts found under harbour have that hashtag. Among them, the posts with the seed hashtag are not a random sample
// of all posts with the seed hashtag.
func TestBiasedSample(t *testing.T) {
	t.Parallel()
	c := &sampledPosts{target: map[int64]storedPost{}}
	meet := func(count int, under string, tags ...string) {
		for range count {
			c.add([]provider.Post{{ID: fmt.Sprint(len(c.sample)), Hashtags: tags}}, under)
		}
	}
	asked := syntheticrelated.SubjectTag(0)
	meet(99, asked)
	meet(1, asked, "harbour")
	meet(30, "harbour", asked)
	meet(30, "harbour")
	meet(5, "", "harbour")
	meet(495, "", "photo")
	if found := rankRelated(c.target, c.sample, []string{asked}); len(found) > 0 {
		t.Errorf("claimed: %+v", found)
	}
	for _, p := range c.sample { // treating all posts with the hashtag as a sample is wrong
		if slices.Contains(p.hashtags, asked) {
			c.target[p.id] = p
		}
	}
	if found := rankRelated(c.target, c.sample, []string{asked}); len(found) != 1 {
		t.Errorf("the sample is not biased: %+v", found)
	}
}
