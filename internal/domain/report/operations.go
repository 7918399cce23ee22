package report

import (
	"fmt"
	"net/http"
	"slices"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/teamtime"
)

// Operations returns the report operations.
func (s *Service) Operations() []operation.Operation {
	return slices.Concat(s.readOperations(), s.paidOperations(), []operation.Operation{s.trackingOperation()})
}

// readOperations returns the operations that read reports. They are free of charge.
func (s *Service) readOperations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_reports", Method: http.MethodGet, Path: "/reports", Needs: access.Read, Success: http.StatusOK,
			Summary: "List reports",
			Description: "Returns the team's reports on public profiles and hashtags, newest first. Check here " +
				"before create_report: reading an existing report is free.",
			Next: "To read a report, call get_report with its kind as type. A pending report is still being " +
				"created; a report with status error could not be created.",
			Listing: &operation.Listing{Member: "reports", Item: "get_report",
				Arguments: map[string]string{"type": "kind", "id": "id"}, Label: []string{"subject", "kind",
					"platform"}},
			Example: operation.Example{Arguments: map[string]any{"type": "profile", "limit": 1},
				Data: ReportList{[]ReportEntry{exampleEntry}}},
		}, s.list),
		operation.Define(operation.Spec{
			Tool: "get_report", Method: http.MethodGet, Path: "/reports/{type}/{id}", Needs: access.Read,
			Success: http.StatusOK,
			Summary: "Get a report",
			Description: "Returns the summary of a report and the requested sections. Read the summary first, then " +
				"request the sections you need from sections_available. Long sections are paged. Texts of the " +
				"analyzed account are in untrusted_content. Notes say which metrics are based on too little data. " +
				"Free of charge.",
			Next: "Missing metrics are unknown: do not invent them. refreshed_at shows how old the metrics are; " +
				"refresh_report fetches new ones for credits. not_found: no report of that kind has this ID; use " +
				"list_reports.",
			Resource: &operation.Resource{Address: "reports/{type}/{id}", Title: "Report"},
			Example: operation.Example{Arguments: map[string]any{"type": "profile", "id": exampleEntry.ID},
				Data: exampleSummary()},
		}, s.get),
	}
}

// paidOperations returns the operations that create and refresh reports.
func (s *Service) paidOperations() []operation.Operation {
	p := s.Catalog.Prices
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "create_report", Method: http.MethodPost, Path: "/reports", Needs: access.Spend,
			Key: operation.KeyRequired, Success: http.StatusAccepted, Networks: true,
			ConditionalCapability: operation.NewConditionalCapability(access.Write, "a report is created", requiresWrite),
			Price:                 operation.PriceRange(0, max(p.ProfileReport, p.HashtagReport), s.createPrice),
			BeforeTx:              operation.NewBeforeTx(s.checkSource),
			Summary:               "Create a report",
			Description: "Starts a report on a public profile or, on Instagram, a hashtag. Use it only for metrics " +
				"that no report in list_reports has. An existing report, or one being created, is returned without " +
				"charge. A failed report is refunded. The result of the finished job has the report's ID.",
			Next: "Poll the job with get_job, then read the report with get_report. Do not retry after " +
				"profile_not_found or profile_private. provider_unavailable: no provider is reachable or configured, " +
				"and nothing was charged; retry later with the same key.",
			Example: operation.Example{Arguments: map[string]any{"type": "profile", "subject": "@harbour.coffee"},
				Data: job.Job{JobID: exampleJob, Type: job.ProfileReport, State: job.Pending, CreatedAt: exampleAt,
					Progress: job.JobProgress{Total: 1}}},
		}, s.create),
		operation.Define(operation.Spec{
			Tool: "refresh_report", Method: http.MethodPost, Path: "/reports/{type}/{id}/refresh", Needs: access.Spend,
			Key: operation.KeyRequired, Success: http.StatusAccepted, Networks: true,
			Price:   operation.PriceRange(0, max(p.ProfileRefresh, p.HashtagRefresh), s.refreshPrice),
			Summary: "Refresh a report",
			Description: "Fetches current metrics and extends the report's data window. Use it when refreshed_at is " +
				"too old for the question. A refresh that fetches nothing is refunded. The same person must wait a " +
				"short time before refreshing the same report again.",
			Next: "Poll the job with get_job, then read the report again. rate_limited with scope connection: " +
				"the report was just refreshed; read it as it is.",
			Example: operation.Example{Arguments: map[string]any{"type": "profile", "id": exampleEntry.ID},
				Data: job.Job{JobID: exampleJob, Type: job.ProfileReport, State: job.Pending, CreatedAt: exampleAt,
					Progress: job.JobProgress{Total: 1}}},
		}, s.refresh),
	}
}

func (s *Service) trackingOperation() operation.Operation {
	p := s.Catalog.Prices
	recurring := operation.Recurring{Credits: max(p.ProfileRefresh, p.HashtagRefresh),
		Repeats: fmt.Sprintf("every frequency_days while tracking is on: %d credits for a profile report, %d for a "+
			"hashtag report", p.ProfileRefresh, p.HashtagRefresh),
		Stops: "when tracking is turned off, the team has too few credits, or its plan no longer includes tracking"}
	return operation.Define(operation.Spec{
		Tool: "set_report_tracking", Method: http.MethodPut, Path: "/reports/{type}/{id}/tracking",
		Needs: access.Spend, Key: operation.KeyRequired, Success: http.StatusOK,
		NetworkCondition: operation.NewNetworkCondition(s.trackingStartsRefresh),
		Price:            operation.PriceRange(0, p.HashtagRefresh, s.trackPrice).WithRecurring(recurring),
		Summary:          "Turn report tracking on or off",
		Description: "Turns automatic refreshes of a report on or off. While tracking is on, every automatic " +
			"refresh is charged without a further call. Turning it on charges the first refresh of a hashtag " +
			"report at once. For a profile report, it charges nothing yet, but one refresh counts against the daily " +
			"credit limits until midnight or until tracking is off. Turning it off and changing the frequency are " +
			"free. Repeating a call has no effect. Every call sets frequency_days, also when turning off: " +
			"if omitted, it becomes 3, so send the current value to keep it.",
		Next: "The response has the time and the price of the next refresh. Tell the person before you turn " +
			"tracking on. plan_limit_reached: the plan allows no more tracked reports; turn one off first.",
		Example: operation.Example{Arguments: map[string]any{"type": "profile", "id": exampleEntry.ID,
			"enabled": true, "frequency_days": 7},
			Data: ReportTracking{Enabled: true, FrequencyDays: 7, NextRefreshAt: &exampleAt, CreditsPerRefresh: 2}},
	}, s.track)
}

const exampleJob = "profile_report:019d3889-2b11-7d5a-9e0c-0c8f1d3e0010"

var (
	exampleAt    = teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}
	exampleEntry = ReportEntry{ID: "019d3889-2b10-7c1e-8a3f-5d2b6f6f0011", Kind: Profile, Subject: "harbour.coffee",
		Status: Ready, Platform: "instagram", RefreshedAt: &exampleAt, AvailableUntil: &exampleAt}
)

func exampleSummary() ReportSummary {
	ratio := result.FindingRatio{Value: 1.62, Low: 1.31, High: 2.003, Shrunk: new(1.55)}
	return ReportSummary{
		ReportEntry: exampleEntry, MeasuredAt: &exampleAt,
		SectionsAvailable: []string{"posts", "hashtags", "words", "times",
			"formats", "cadence", "score"},
		Profile: &ReportAccount{Username: "harbour.coffee", URL: "https://www.instagram.com/harbour.coffee",
			Biography: &operation.Pointer{Untrusted: "u1"}, Followers: new(int64(18_204)), Follows: new(int64(310)),
			Posts: new(int64(412))},
		Engagement: &result.FindingEngagement{
			Basis: result.Measured, PostsAnalysed: 398, Counts: []string{"likes", "comments"}, PostsPerWeek: new(3.962),
			RateByFollowers: &result.FindingMedian{Median: 0.01714, Low: new(0.0162), High: new(0.01813),
				LowerQuartile: 0.01112, UpperQuartile: 0.02631, Posts: 398},
			Likes: &result.FindingMedian{Median: 301, Low: new(284.0), High: new(318.0), LowerQuartile: 195,
				UpperQuartile: 462, Posts: 398},
			Comments: &result.FindingMedian{Median: 11, Low: new(10.0), High: new(12.0), LowerQuartile: 6,
				UpperQuartile: 19, Posts: 398},
		},
		Score: &result.FindingScore{Value: 60.2, Components: []result.FindingComponent{
			{Name: "engagement", Value: 61.7, Weight: 0.5385}, {Name: "activity", Value: 62.1, Weight: 0.2308},
			{Name: "consistency", Value: 54.8, Weight: 0.2308}}},
		TopHashtags: []result.FindingHashtag{{Hashtag: "latteart", Posts: 96, Ratio: &ratio, Works: new(true)}},
		TopWords:    []result.FindingWord{{Word: "espresso", Posts: 71}},
		BestTime: &result.FindingBestTime{Weekday: "saturday", Hour: 8, Hours: 4, Days: "weekend", Posts: 44,
			StandsOut: true, Ratio: ratio, Low: 1.19, High: 2.21},
	}
}
