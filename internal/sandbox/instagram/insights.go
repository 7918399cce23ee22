package instagram

import (
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// postMetrics are the metrics of posts and reels.
var postMetrics = graph.Metrics{
	"views":              func(c insights.Counts) any { return c.Views },
	"reach":              func(c insights.Counts) any { return c.Reach },
	"likes":              func(c insights.Counts) any { return c.Likes },
	"comments":           func(c insights.Counts) any { return c.Comments },
	"shares":             func(c insights.Counts) any { return c.Shares },
	"saved":              func(c insights.Counts) any { return c.Saves },
	"total_interactions": func(c insights.Counts) any { return c.Likes + c.Comments + c.Shares + c.Saves },
}

// productType returns the media_product_type of a post. A single video is a reel.
func productType(p store.Post) string {
	if p.Format == store.FormatStory {
		return "STORY"
	}
	if graph.MediaType(p) == graph.PostMediaTypes["REELS"] {
		return "REELS"
	}
	return "FEED"
}
