// Package syntheticrelated makes up what a service comes to meet of a network on which is known which hashtags belong
// together. What was met under some hashtag is no fair sample of the network, as it is none in truth. Measures of what
// belongs together are tested against that. It knows nothing of how they work.
package syntheticrelated

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"pressroom/internal/domain/provider"
)

// Network is one on which people post about subjects. Each subject has a hashtag, which stands on most of its posts.
type Network struct {
	Seed       uint64
	Subjects   int       // the first is the one that is asked about
	Companions []float64 // that belong to the first: the share of its posts that carry each
	Rarely     float64   // the share of all other posts that carry each companion
	Everywhere []float64 // hashtags that belong to nothing: the share of all posts that carry each
	Stray      float64   // the share of a subject's posts that carry any other subject's hashtag too, for each
	Own        int       // companions of each other subject, on a quarter of its posts each
}

// RandomNetwork is a network as chance makes it, with four companions of the first subject, or with none.
func RandomNetwork(seed uint64, companions bool) Network {
	dice := newRand(seed, seedNetwork)
	n := Network{
		Seed: seed, Subjects: 6 + dice.IntN(8), Rarely: 0.002 + 0.008*dice.Float64(),
		Stray: 0.01 + 0.04*dice.Float64(), Own: 3,
	}
	for i := range 20 { // the first are on half of all posts, the last on some in a hundred
		n.Everywhere = append(n.Everywhere, 0.5/float64(1+i))
	}
	for i := 0; companions && i < 4; i++ {
		n.Companions = append(n.Companions, 0.12+0.3*dice.Float64())
	}
	return n
}

// Subject is the hashtag of a subject; the one that is asked about is the first, 0.
func Subject(i int) string { return "subject" + strconv.Itoa(i) }

// Companion is a hashtag that belongs to the first subject, where Drawn gave it any.
func Companion(i int) string { return "companion" + strconv.Itoa(i) }

// newRand are the same for the same numbers.
func newRand(seed uint64, of int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(of))) //nolint:gosec // made up, no secret; of is small
}

// What is thrown for.
const (
	seedNetwork = iota
	seedCommon
	seedAny
	seedSubject // and from there on the others
)

// PostsUnder is posts as a source tells them that was asked for a subject's hashtag.
func (n Network) PostsUnder(subject, posts int) []provider.Post {
	return n.posts(fmt.Sprint("s", subject), seedSubject+subject, posts, Subject(subject), func(*rand.Rand) (int, bool) { return subject, true })
}

// PostsUnderCommon is posts as a source tells them that was asked for a hashtag that stands everywhere.
func (n Network) PostsUnderCommon(name string, posts int) []provider.Post {
	return n.posts(name, seedCommon, posts, name, func(dice *rand.Rand) (int, bool) { return dice.IntN(n.Subjects), false })
}

// PostsAnywhere is posts that were met under no hashtag.
func (n Network) PostsAnywhere(posts int) []provider.Post {
	return n.posts("any", seedAny, posts, "", func(dice *rand.Rand) (int, bool) { return dice.IntN(n.Subjects), false })
}

func (n Network) posts(id string, of, posts int, sure string, about func(*rand.Rand) (int, bool)) []provider.Post {
	dice := newRand(n.Seed, of)
	out := make([]provider.Post, posts)
	for i := range out {
		subject, tagged := about(dice)
		tags := n.tags(dice, subject, tagged)
		if sure != "" {
			tags[sure] = true
		}
		out[i] = provider.Post{ID: id + "_" + strconv.Itoa(i), Hashtags: slices.Sorted(maps.Keys(tags))}
	}
	return out
}

// tags are the hashtags of a post about a subject.
func (n Network) tags(dice *rand.Rand, subject int, tagged bool) map[string]bool {
	tags := map[string]bool{}
	throw := func(share float64, name func(int) string, of int) {
		if dice.Float64() < share {
			tags[name(of)] = true
		}
	}
	for i := range n.Subjects {
		switch {
		case i == subject && tagged:
			tags[Subject(i)] = true
		case i == subject:
			throw(0.8, Subject, i)
		default:
			throw(n.Stray, Subject, i)
		}
	}
	for i := range n.Everywhere {
		throw(n.Everywhere[i], everywhere, i)
	}
	for i := range n.Companions {
		share := n.Rarely
		if tags[Subject(0)] {
			share = n.Companions[i]
		}
		throw(share, Companion, i)
	}
	for i := range n.Own * min(subject, 1) {
		throw(0.25, func(i int) string { return fmt.Sprintf("of%d_%d", subject, i) }, i)
	}
	if dice.Float64() < 0.5 {
		tags["rare"+strconv.Itoa(dice.IntN(5000))] = true
	}
	return tags
}

func everywhere(i int) string { return "everywhere" + strconv.Itoa(i) }
