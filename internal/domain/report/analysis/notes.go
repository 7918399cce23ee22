package analysis

import (
	"fmt"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// notes returns notes that say what the results are based on and why some results are missing.
func notes(out result.Result, prof *profile, e *effects) []string {
	notes := []string{}
	add := func(condition bool, format string, args ...any) {
		if condition {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	postCount := out.Engagement.PostsAnalysed
	add(len(prof.posts) == 0, "The profile has no readable public posts.")
	add(prof.youngCount > 0, "%s excluded from engagement: less than two days old, so still getting likes.",
		countPosts(prof.youngCount))
	add(prof.missingReactions > 0, "%s excluded from engagement: some reactions that are public for other posts are "+
		"hidden.", countPosts(prof.missingReactions))
	add(postCount > 0 && postCount < minCompared,
		"Only %s can be compared. At least %d are needed to find what is associated with "+
			"more engagement.", countPosts(postCount), minCompared)
	undatedCount := postCount - len(e.comparedPosts)
	add(postCount >= minCompared && len(e.comparedPosts) < minCompared,
		"Too many posts (%s) have no known time, so it is not possible "+
			"to find what is associated with more engagement.", countPosts(undatedCount))
	add(len(e.comparedPosts) >= minCompared && e.fit == nil, "Nothing can be compared: the posts have equal engagement, or "+
		"differ in too many ways.")
	isGuess := out.BestTime != nil && !out.BestTime.StandsOut
	add(isGuess && e.fit != nil, "No time of the week is significantly better in %s: the best time is a guess.",
		countPosts(len(e.comparedPosts)))
	add(isGuess && e.fit == nil, "The best time is a guess: the posts do not allow a comparison with other times.")
	add(len(e.hashtags) > 0 && len(e.significantHashtags) == 0, "No hashtag has a significant effect: their order is a "+
		"guess.")
	add(e.hasConfounded, "Some hashtags always occur together: their effects cannot be separated.")
	add(prof.followers == nil, "The number of followers is not public, so there is no engagement rate by followers.")
	likes := slices.Contains(prof.counts, "likes")
	add(postCount > 0 && !likes, "Most posts hide their likes: engagement counts only %s, and the score excludes it.",
		strings.Join(prof.counts, " and "))
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
