package sandbox

// instagramMetrics are those of posts and reels.
var instagramMetrics = metrics{
	"views":              func(c tally) any { return c.views },
	"reach":              func(c tally) any { return c.reach },
	"likes":              func(c tally) any { return c.likes },
	"comments":           func(c tally) any { return c.comments },
	"shares":             func(c tally) any { return c.shares },
	"saved":              func(c tally) any { return c.saves },
	"total_interactions": func(c tally) any { return c.likes + c.comments + c.shares + c.saves },
}

// product is where a post stands: a video by itself is a reel.
func (p post) product() string {
	if p.listed() == listedForms["REELS"] {
		return "REELS"
	}
	return "FEED"
}
