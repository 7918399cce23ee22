package hashtaganalysis

import "pressroom.example/pressroom/internal/domain/report/result"

// Notes on an estimated or unknown number of posts.
const (
	noteSizeUnknown = "The network does not publish the number of posts, and there is too little data to estimate it. An " +
		"estimate requires 20 dated top posts that reach back at least 30 days, and 5 recent posts."
	noteSizeByAges = "The number of posts is an estimate. It assumes that top posts are a random sample of all " +
		"posts; if the network prefers recent ones, the true number is higher."
	noteSizeSince = "The number of posts is an estimate: the last measured number plus the posts since then at the " +
		"current rate."
)

// notes returns notes that say what the results are based on and why some results are missing.
func notes(m measuredPosts, found Result, background Background, compared bool, sizeNote string) []string {
	out := []string{}
	if len(m.posts) == 0 {
		return append(out, "No posts were found for this hashtag.")
	}
	if sizeNote != "" {
		out = append(out, sizeNote)
	}
	out = append(out, rateNotes(found.Hashtag.PostsPerDay)...)
	out = append(out, engagementNote(found.Engagement.Of))
	if r := found.Sections.Audience; r != nil && r.Recent != nil && r.Recent.Likes != nil &&
		r.Recent.Likes.Posts < minScored {
		out = append(out, "Fewer than five recent posts have likes: the score excludes reactions and competition.")
	}
	if background.Posts < minCompared && len(found.TopHashtags) > 0 {
		out = append(out, "Too few posts of other hashtags are known to find related hashtags. They are ranked by "+
			"frequency.")
	}
	return append(out, bestTimeNotes(found.BestTime, compared)...)
}

func engagementNote(basis string) string {
	switch basis {
	case ofRecent:
		return "Engagement is based on recent posts, which are still gathering reactions."
	case ofTop:
		return "Engagement is based on top posts only, so it is higher than that of a typical post."
	}
	return "No post has engagement metrics."
}

func bestTimeNotes(best *result.FindingBestTime, compared bool) []string {
	switch {
	case best == nil:
		return []string{"There is no best time yet. It requires 30 top posts, and recent posts from all parts of the week."}
	case !compared:
		return []string{"The best time is a guess. A significant result requires 30 top posts, and recent posts from all parts " +
			"of the week."}
	case !best.StandsOut:
		return []string{"No time of the week is significantly better for top posts: the best time is a guess."}
	}
	return nil
}

func rateNotes(rate *TagRate) []string {
	switch {
	case rate == nil:
		return []string{"The number of posts per day is unknown: too few recent posts have a time."}
	case rate.Basis == Estimated:
		return []string{"Posts per day are extrapolated from less than a day; other hours may differ."}
	}
	return nil
}
