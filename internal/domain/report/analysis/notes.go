package analysis

import (
	"fmt"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// notes returns notes on what the results are based on and why some are missing.
func notes(out result.Result, all *profile, e *effects) []string {
	notes := []string{}
	add := func(when bool, form string, args ...any) {
		if when {
			notes = append(notes, fmt.Sprintf(form, args...))
		}
	}
	counted := out.Engagement.PostsAnalysed
	add(len(all.posts) == 0, "The profile has no readable public posts.")
	add(all.young > 0, "%s excluded from engagement: less than two days old, so still getting likes.",
		countPosts(all.young))
	add(all.missingReactions > 0, "%s excluded from engagement: some reactions that are public for other posts are "+
		"hidden.", countPosts(all.missingReactions))
	add(counted > 0 && counted < minCompared, "Only %s can be compared. At least %d are needed to find what is associated with "+
		"more engagement.", countPosts(counted), minCompared)
	timeless := counted - len(e.compared)
	add(counted >= minCompared && len(e.compared) < minCompared, "Too many posts (%s) have no known time, so it is not possible "+
		"to find what is associated with more engagement.", countPosts(timeless))
	add(len(e.compared) >= minCompared && e.fit == nil, "Nothing can be compared: the posts have equal engagement, or "+
		"differ in too many ways.")
	guess := out.BestTime != nil && !out.BestTime.StandsOut
	add(guess && e.fit != nil, "No time of the week is significantly better in %s: the best time is a guess.",
		countPosts(len(e.compared)))
	add(guess && e.fit == nil, "The best time is a guess: the posts do not allow a comparison with other times.")
	add(len(e.hashtags) > 0 && len(e.claimedHashtags) == 0, "No hashtag has a significant effect: their order is a "+
		"guess.")
	add(e.hasConfounded, "Some hashtags always occur together: their effects cannot be separated.")
	add(all.followers == nil, "The number of followers is not public, so there is no engagement rate by followers.")
	likes := slices.Contains(all.counts, "likes")
	add(counted > 0 && !likes, "Most posts hide their likes: engagement counts only %s, and the score excludes it.",
		strings.Join(all.counts, " and "))
	add(out.Sections.Growth == nil, "Growth needs a second measurement at least half a day after the first.")
	add(out.Score == nil, "There is no score: it needs five posts with metrics, or growth data.")
	return notes
}

func countPosts(n int) string {
	if n == 1 {
		return "1 post"
	}
	return fmt.Sprintf("%d posts", n)
}
