package hashtaganalysis

import "pressroom/internal/domain/report/result"

// What the number of posts rests on where it was not measured.
const (
	noteSizeUnknown = "The network does not tell how many posts there are, and there is too little to estimate it by: it takes 20 top posts of known age that reach back 30 days or more, and 5 new posts counted."
	noteSizeByAges  = "The number of posts is an estimate. It takes the top posts for a fair sample of all that were ever posted; where the network prefers young ones, there are more posts than this."
	noteSizeSince   = "The number of posts is an estimate: the last that was measured, and what has come since by the rate of posts."
)

// notes say where figures rest on too little, and what to make of them.
func notes(s measuredPosts, found Result, background Background, compared bool, aboutSize string) []string {
	out := []string{}
	if len(s.all) == 0 {
		return append(out, "No posts were shown under this hashtag.")
	}
	if aboutSize != "" {
		out = append(out, aboutSize)
	}
	out = append(out, rateNotes(found.Hashtag.PostsPerDay)...)
	out = append(out, engagementNote(found.Engagement.Of))
	if r := found.Sections.Audience; r != nil && r.Recent != nil && r.Recent.Likes != nil && r.Recent.Likes.Posts < minScored {
		out = append(out, "Fewer than five new posts tell how people reacted: the score does not count that.")
	}
	if background.Posts < minCompared && len(found.TopHashtags) > 0 {
		out = append(out, "Too few posts of other hashtags are known to say which of the hashtags beside this one belong to it; they are ranked by how often they are there.")
	}
	return append(out, bestTimeNotes(found.BestTime, compared)...)
}

func engagementNote(of string) string {
	switch of {
	case ofRecent:
		return "The figures of engagement are of the newest posts, which will still be met with more."
	case ofTop:
		return "The source told figures of top posts alone: the engagement is theirs, not that of anybody's post."
	}
	return "No post tells how people reacted."
}

func bestTimeNotes(best *result.BestTime, compared bool) []string {
	switch {
	case best == nil:
		return []string{"A best time cannot be looked for yet: it takes 30 top posts, and new posts counted in all parts of the week."}
	case !compared:
		return []string{"The best time is a guess so far: to tell it from chance takes 30 top posts, and new posts counted in all parts of the week."}
	case !best.StandsOut:
		return []string{"No time of the week stands out among the top posts by more than chance would make it: the best time is a guess."}
	}
	return nil
}

func rateNotes(rate *Rate) []string {
	switch {
	case rate == nil:
		return []string{"How many posts come in a day cannot be told: too few new ones were shown with their time."}
	case rate.Basis == Estimated:
		return []string{"The posts per day are those of less than a day, whose pace they have; other hours have another."}
	}
	return nil
}
