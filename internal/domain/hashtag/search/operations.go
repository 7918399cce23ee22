package search

import (
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/teamtime"
)

// Operations returns the operations on searches.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "search_hashtags", Method: http.MethodPost, Path: "/hashtags/search", Needs: access.Spend,
			Key: operation.KeyRequired, Success: http.StatusAccepted, Networks: true,
			Price:   operation.PriceRange(0, s.Catalog.Prices.HashtagSearch, s.price),
			Summary: "Search hashtags",
			Description: "Starts a search for hashtags by keyword, phrase or hashtag. The finished job has the " +
				"hashtags with their number of posts, posts per day, tier and score, and related hashtags. For some " +
				"days after a paid search, further searches for the same keyword on this platform are free and return " +
				"stored results. Word order does not matter. A search that fails or finds nothing is refunded. " +
				"Nothing is saved to a hashtag list.",
			Next: "Poll the job with get_job; its result has the hashtags, in pages. Save suitable ones with " +
				"add_hashtags.",
			Example: operation.Example{Arguments: map[string]any{"query": "latte art"},
				Data: job.Job{JobID: "hashtag_search:019d3889-2b11-7d5a-9e0c-0c8f1d3e0012", Type: job.HashtagSearch,
					State: job.Pending, CreatedAt: exampleAt, Progress: job.JobProgress{Total: 3}}},
		}, s.search),
	}
}

var exampleAt = teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}
