package analysis

import (
	"fmt"
	"slices"
	"strings"

	"pressroom/internal/domain/report/result"
)

// notes says what the answer rests on, where that is not plain.
func notes(out result.Result, all *figures, e *effects) []string {
	notes := []string{}
	say := func(when bool, form string, args ...any) {
		if when {
			notes = append(notes, fmt.Sprintf(form, args...))
		}
	}
	counted := out.Engagement.PostsAnalysed
	say(len(all.posts) == 0, "The profile has no public posts that could be read.")
	say(all.young > 0, "%s left out of engagement: younger than two days, still gathering reactions.", countPosts(all.young))
	say(all.missingReactions > 0, "%s left out of engagement: not all of the reactions that other posts tell are public.", countPosts(all.missingReactions))
	say(counted > 0 && counted < minCompared, "Only %s can be compared: too few to say what goes with more engagement. That takes %d.", countPosts(counted), minCompared)
	timeless := counted - len(e.compared)
	say(counted >= minCompared && len(e.compared) < minCompared, "Of too many posts the time is not known (%s): nothing is said about what goes with more engagement.", countPosts(timeless))
	say(len(e.compared) >= minCompared && e.fit == nil, "The engagement of the posts does not differ, or too much differs between them, so that nothing can be compared.")
	guess := out.BestTime != nil && !out.BestTime.StandsOut
	say(guess && e.fit != nil, "No time of the week stands out clearly from chance in %s: the best time is a guess.", countPosts(len(e.compared)))
	say(guess && e.fit == nil, "The best time is a guess: the posts do not tell how it compares with other times.")
	say(len(e.hashtags) > 0 && len(e.claimedHashtags) == 0, "No hashtag can be told from chance: their order is a guess.")
	say(e.hasConfounded, "Some hashtags always come together: what each of them does cannot be told apart.")
	say(all.followers == nil, "The number of followers is not public, so there is no rate by followers.")
	likes := slices.Contains(all.counts, "likes")
	say(counted > 0 && !likes, "Most posts do not tell their likes: engagement is that of %s alone, and the score leaves it out.", strings.Join(all.counts, " and "))
	say(out.Sections.Growth == nil, "Growth is told from the second measurement on, half a day after the first or later.")
	say(out.Score == nil, "There is no score: it takes five posts that tell something, or growth, and neither is known.")
	return notes
}

func countPosts(n int) string {
	if n == 1 {
		return "1 post"
	}
	return fmt.Sprintf("%d posts", n)
}
