package search

import (
	"net/http"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
	"pressroom/internal/teamtime"
)

// Operations declares what clients can do with searches.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "search_hashtags", Method: http.MethodPost, Path: "/hashtags/search", Needs: access.Spend, Key: operation.KeyRequired, Success: http.StatusAccepted, Networks: true,
			Price:       operation.Costs(0, s.Terms.Prices.HashtagSearch, s.price),
			Summary:     "Search hashtags",
			Description: "Starts a search for hashtags by a keyword, a phrase or a hashtag. The finished job holds the hashtags with their size, rate of posts, tier and score, and those that often appear alongside. A keyword that the team has paid for on this platform is served from what is stored, without charge, while its data window lives; the order of its words does not matter. A search that finds nothing is refunded. Nothing is saved to a hashtag list.",
			Next:        "Follow the job with get_job; its result has the hashtags, a page at a time. Keep those that fit with add_hashtags. provider_unavailable and a job with nothing_found charge nothing.",
			Example: operation.Example{Arguments: map[string]any{"query": "latte art"},
				Data: job.Entry{JobID: "hashtag_search:019d3889-2b11-7d5a-9e0c-0c8f1d3e0012", Type: job.HashtagSearch, State: job.Pending, CreatedAt: exampleAt, Progress: job.Progress{Total: 3}}},
		}, s.search),
	}
}

var exampleAt = teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}
