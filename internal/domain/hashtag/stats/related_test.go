package stats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pressroom/internal/domain/hashtag/syntheticrelated"
	"pressroom/internal/domain/provider"
)

// sampledPosts stores posts of a synthetic network.
type sampledPosts struct {
	here   map[int64]storedPost
	sample []storedPost
}

func (c *sampledPosts) meet(posts []provider.Post, under string) {
	for _, p := range posts {
		m := storedPost{id: int64(len(c.sample)), networkID: p.ID, hashtags: p.Hashtags}
		if under != "" {
			m.foundUnder = []string{under}
			m.hashtags = union(m.hashtags, m.foundUnder)
		}
		c.sample = append(c.sample, m)
		if under == syntheticrelated.Subject(0) {
			c.here[m.id] = m
		}
	}
}

// lookAround samples posts under each subject's hashtag, under a common one, and under none.
func lookAround(n syntheticrelated.Network) *sampledPosts {
	c := &sampledPosts{here: map[int64]storedPost{}}
	for i := range n.Subjects {
		c.meet(n.PostsUnder(i, 100), syntheticrelated.Subject(i))
	}
	c.meet(n.PostsUnderCommon("everywhere3", 200), "everywhere3")
	c.meet(n.PostsAnywhere(150), "")
	return c
}

const networks = 300

// Related hashtags come before common ones.
func TestRelatedFirst(t *testing.T) {
	t.Parallel()
	first := 0
	for seed := range uint64(networks) {
		n := syntheticrelated.RandomNetwork(seed, true)
		c := lookAround(n)
		found := rankRelated(c.here, c.sample, []string{syntheticrelated.Subject(0)})
		if len(found) >= len(n.Companions) && !slices.ContainsFunc(found[:len(n.Companions)], func(r Related) bool {
			return !strings.HasPrefix(r.Hashtag, "companion")
		}) {
			first++
		}
	}
	t.Logf("first in %d of %d", first, networks)
	if first < networks*9/10 {
		t.Errorf("what belongs to a hashtag is first in %d of %d networks", first, networks)
	}
}

// If nothing is related, false positives are rare, although the sample is biased: many posts with the hashtag were
// found under others.
func TestFalsePositiveRate(t *testing.T) {
	t.Parallel()
	claimed := 0
	for seed := range uint64(networks) {
		n := syntheticrelated.RandomNetwork(seed, false)
		c := lookAround(n)
		if found := rankRelated(c.here, c.sample, []string{syntheticrelated.Subject(0)}); len(found) > 0 {
			t.Logf("seed %d: %+v", seed, found[0])
			claimed++
		}
	}
	t.Logf("claimed in %d of %d", claimed, networks)
	if claimed > networks/20 {
		t.Errorf("something is claimed in %d of %d networks in which nothing belongs together", claimed, networks)
	}
}

// All posts found under harbour have it. Those with sea are no sample of posts with sea.
func TestBiasedSample(t *testing.T) {
	t.Parallel()
	c := &sampledPosts{here: map[int64]storedPost{}}
	meet := func(count int, under string, tags ...string) {
		for range count {
			c.meet([]provider.Post{{ID: fmt.Sprint(len(c.sample)), Hashtags: tags}}, under)
		}
	}
	asked := syntheticrelated.Subject(0)
	meet(99, asked)
	meet(1, asked, "harbour")
	meet(30, "harbour", asked)
	meet(30, "harbour")
	meet(5, "", "harbour")
	meet(495, "", "photo")
	if found := rankRelated(c.here, c.sample, []string{asked}); len(found) > 0 {
		t.Errorf("claimed: %+v", found)
	}
	for _, p := range c.sample { // who takes all that carries it for a sample errs
		if slices.Contains(p.hashtags, asked) {
			c.here[p.id] = p
		}
	}
	if found := rankRelated(c.here, c.sample, []string{asked}); len(found) != 1 {
		t.Errorf("the posts show no bias: %+v", found)
	}
}
