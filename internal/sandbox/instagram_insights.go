package sandbox

// instagramMetrics are the metrics of posts and reels.
var instagramMetrics = metrics{
	"views":              func(c tally) any { return c.views },
	"reach":              func(c tally) any { return c.reach },
	"likes":              func(c tally) any { return c.likes },
	"comments":           func(c tally) any { return c.comments },
	"shares":             func(c tally) any { return c.shares },
	"saved":              func(c tally) any { return c.saves },
	"total_interactions": func(c tally) any { return c.likes + c.comments + c.shares + c.saves },
}

// instagramProduct returns where a post is shown: a single video is a reel.
func instagramProduct(p post) string {
	if mediaTypeOf(p) == listedForms["REELS"] {
		return "REELS"
	}
	return "FEED"
}
