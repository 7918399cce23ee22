// Package syntheticrelated generates the posts of a network with known relations between hashtags, for testing how well
// package stats detects related hashtags. As in reality, the posts found under a hashtag are a biased sample. The two
// packages share no code, so that they cannot share a mistake.
package syntheticrelated

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Network generates posts about subjects. Each subject has a hashtag, which most of its posts use.
type Network struct {
	Seed                 uint64
	Subjects             int       // number of subjects; the hashtag of the first is the seed
	CompanionShares      []float64 // for each hashtag related to the first subject: share of that subject's posts that use it
	CompanionNoise       float64   // share of all other posts that use each companion
	CommonShares         []float64 // for each unrelated hashtag: share of all posts that use it
	StrayShare           float64   // share of a subject's posts that use another subject's hashtag
	CompanionsPerSubject int       // number of companions of each other subject; a quarter of the subject's posts use each
}

// RandomNetwork returns a random network whose first subject has four companions, or none if companions is false.
func RandomNetwork(seed uint64, companions bool) Network {
	rng := newRand(seed, streamNetwork)
	n := Network{
		Seed: seed, Subjects: 6 + rng.IntN(8), CompanionNoise: 0.002 + 0.008*rng.Float64(),
		StrayShare: 0.01 + 0.04*rng.Float64(), CompanionsPerSubject: 3,
	}
	for i := range 20 { // from half of all posts down to a few percent
		n.CommonShares = append(n.CommonShares, 0.5/float64(1+i))
	}
	for i := 0; companions && i < 4; i++ {
		n.CompanionShares = append(n.CompanionShares, 0.12+0.3*rng.Float64())
	}
	return n
}

// SubjectTag returns the hashtag of the subject with index i. The seed has index 0.
func SubjectTag(i int) string { return "subject" + strconv.Itoa(i) }

// CompanionTag returns the hashtag with index i among the hashtags related to the first subject.
func CompanionTag(i int) string { return "companion" + strconv.Itoa(i) }

// newRand returns a reproducible generator for a stream of random numbers.
func newRand(seed uint64, stream int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(stream))) //nolint:gosec // test data; stream is small
}

// The streams of random numbers.
const (
	streamNetwork = iota
	streamCommon
	streamAny
	streamSubject // plus the index of the subject
)

// PostsUnder returns posts found under a subject's hashtag.
func (n Network) PostsUnder(subject, posts int) []provider.Post {
	return n.generatePosts(fmt.Sprint("s", subject), streamSubject+subject, posts, SubjectTag(subject), func(*rand.Rand) (int,
		bool) {
		return subject, true
	})
}

// PostsUnderCommon returns posts found under an unrelated hashtag.
func (n Network) PostsUnderCommon(name string, posts int) []provider.Post {
	return n.generatePosts(name, streamCommon, posts, name, func(rng *rand.Rand) (int, bool) {
		return rng.IntN(n.Subjects),
			false
	})
}

// PostsAnywhere returns posts that were not found by hashtag.
func (n Network) PostsAnywhere(posts int) []provider.Post {
	return n.generatePosts("any", streamAny, posts, "", func(rng *rand.Rand) (int, bool) { return rng.IntN(n.Subjects), false })
}

// generatePosts generates posts. choose returns the subject of a post and whether the post always has the subject's
// hashtag. If commonTag is not empty, all posts have it.
func (n Network) generatePosts(
	id string, stream, count int, commonTag string, choose func(*rand.Rand) (int, bool),
) []provider.Post {
	rng := newRand(n.Seed, stream)
	out := make([]provider.Post, count)
	for i := range out {
		subject, alwaysTagged := choose(rng)
		tags := n.generateTags(rng, subject, alwaysTagged)
		if commonTag != "" {
			tags[commonTag] = true
		}
		out[i] = provider.Post{ID: id + "_" + strconv.Itoa(i), Hashtags: slices.Sorted(maps.Keys(tags))}
	}
	return out
}

// generateTags returns the hashtags of a post about a subject. If alwaysTagged is set, the post always has the
// subject's hashtag.
func (n Network) generateTags(rng *rand.Rand, subject int, alwaysTagged bool) map[string]bool {
	tags := map[string]bool{}
	maybeAdd := func(share float64, name func(int) string, index int) {
		if rng.Float64() < share {
			tags[name(index)] = true
		}
	}
	for i := range n.Subjects {
		switch {
		case i == subject && alwaysTagged:
			tags[SubjectTag(i)] = true
		case i == subject:
			maybeAdd(0.8, SubjectTag, i)
		default:
			maybeAdd(n.StrayShare, SubjectTag, i)
		}
	}
	for i := range n.CommonShares {
		maybeAdd(n.CommonShares[i], commonName, i)
	}
	for i := range n.CompanionShares {
		share := n.CompanionNoise
		if tags[SubjectTag(0)] {
			share = n.CompanionShares[i]
		}
		maybeAdd(share, CompanionTag, i)
	}
	for i := range n.CompanionsPerSubject * min(subject, 1) {
		maybeAdd(0.25, func(i int) string { return fmt.Sprintf("of%d_%d", subject, i) }, i)
	}
	if rng.Float64() < 0.5 {
		tags["rare"+strconv.Itoa(rng.IntN(5000))] = true
	}
	return tags
}

func commonName(i int) string { return "everywhere" + strconv.Itoa(i) }
