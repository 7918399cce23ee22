package report

import (
	"fmt"
	"net/http"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/report/result"
	"pressroom/internal/teamtime"
)

// Operations declares what clients can do with reports.
func (s *Service) Operations() []operation.Operation {
	p := s.Terms.Prices
	recurring := operation.Recurring{Credits: max(p.ProfileRefresh, p.HashtagRefresh), Repeats: fmt.Sprintf("every frequency_days while tracking is on; of a profile report %d credits, of a hashtag report %d", p.ProfileRefresh, p.HashtagRefresh), Stops: "when tracking is switched off, when the team has too few credits left, or when its plan does not include tracking any more"}
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_reports", Method: http.MethodGet, Path: "/reports", Needs: access.Read, Success: http.StatusOK,
			Summary:     "The team's reports",
			Description: "Reports on public profiles and hashtags, the newest first. Look here before create_report: what is there already costs nothing to read. Charges nothing.",
			Next:        "Read one with get_report, by its kind as type and its id. One that is pending is being made still; one in error could not be made.",
			Listing:     &operation.Listing{Member: "reports", Item: "get_report", Arguments: map[string]string{"type": "kind", "id": "id"}, Label: []string{"subject", "kind", "platform"}},
			Example:     operation.Example{Arguments: map[string]any{"type": "profile", "limit": 1}, Data: List{[]Entry{exampleEntry}}},
		}, s.list),
		operation.Define(operation.Spec{
			Tool: "get_report", Method: http.MethodGet, Path: "/reports/{type}/{id}", Needs: access.Read, Success: http.StatusOK, Parts: true,
			Summary:     "A report",
			Description: "The summary of a report and, where sections names some of sections_available, those. Read the summary first and ask for the sections that the question needs. Long sections come a page at a time. Texts of the analysed account stand in untrusted_content. Notes say where figures rest on too little. Charges nothing.",
			Next:        "Figures that are not there are not known: make none up. refreshed_at tells how old they are; refresh_report fetches new ones and costs credits. not_found: no report of that kind has this id; list_reports names them.",
			Resource:    &operation.Resource{Address: "reports/{type}/{id}", Title: "Report"},
			Example:     operation.Example{Arguments: map[string]any{"type": "profile", "id": exampleEntry.ID}, Data: exampleSummary()},
		}, s.get),
		operation.Define(operation.Spec{
			Tool: "create_report", Method: http.MethodPost, Path: "/reports", Needs: access.Spend, Key: operation.KeyRequired, Success: http.StatusAccepted, Networks: true,
			Also:        operation.When(access.Write, "a report is made", requiresWrite),
			Price:       operation.Costs(0, max(p.ProfileReport, p.HashtagReport), s.createPrice),
			Ahead:       operation.Beforehand(s.checkSource),
			Summary:     "Create a report",
			Description: "Starts a report on a public profile or, on Instagram, a hashtag. Use it only when the person wants figures that no report of list_reports holds. A report that the team has already, or that is being made, is returned without charge; one whose making fails is refunded. The job names the report once it is ready.",
			Next:        "Follow the job with get_job, then read the report with get_report. A job that fails with profile_not_found or profile_private will fail again. provider_unavailable: the source did not answer and nothing was charged; try again later with the same key.",
			Example: operation.Example{Arguments: map[string]any{"type": "profile", "subject": "@harbour.coffee"},
				Data: job.Entry{JobID: exampleJob, Type: job.ProfileReport, State: job.Pending, CreatedAt: exampleAt, Progress: job.Progress{Total: 1}}},
		}, s.create),
		operation.Define(operation.Spec{
			Tool: "refresh_report", Method: http.MethodPost, Path: "/reports/{type}/{id}/refresh", Needs: access.Spend, Key: operation.KeyRequired, Success: http.StatusAccepted, Networks: true,
			Price:       operation.Costs(0, max(p.ProfileRefresh, p.HashtagRefresh), s.refreshPrice),
			Summary:     "Refresh a report",
			Description: "Fetches current figures and moves the report's data window on. Use it when refreshed_at of the report is too old for the question. The job says when that is done; a refresh that fetched nothing is refunded. The same person may refresh the same report again only after a short while.",
			Next:        "Follow the job with get_job, then read the report again. rate_limited with scope connection: it was refreshed moments ago, so read it as it is.",
			Example: operation.Example{Arguments: map[string]any{"type": "profile", "id": exampleEntry.ID},
				Data: job.Entry{JobID: exampleJob, Type: job.ProfileReport, State: job.Pending, CreatedAt: exampleAt, Progress: job.Progress{Total: 1}}},
		}, s.refresh),
		operation.Define(operation.Spec{
			Tool: "set_report_tracking", Method: http.MethodPut, Path: "/reports/{type}/{id}/tracking", Needs: access.Spend, Key: operation.KeyRequired, Success: http.StatusOK,
			Reaches:     operation.ReachesWhen(s.trackCallsSource),
			Price:       operation.Costs(0, p.HashtagRefresh, s.trackPrice).Repeating(recurring),
			Summary:     "Switch a report's tracking",
			Description: "Switches on or off that a report is refreshed by itself. While it is on, every automatic refresh is charged with no further call. Switching it on charges the first refresh of a hashtag report at once; of a profile report it charges nothing, but counts one refresh against the day's credit limits, which switching off gives back. Switching off and changing the frequency charge nothing; the same switch again is the same one. frequency_days counts with each switch, off too: left out it becomes 3, whatever it was before, so send it along where another is to stay.",
			Next:        "The answer tells when the next refresh is and what each costs. Say so before you switch it on. plan_limit_reached: the plan tracks no more reports; switch another one off first.",
			Example: operation.Example{Arguments: map[string]any{"type": "profile", "id": exampleEntry.ID, "enabled": true, "frequency_days": 7},
				Data: Tracking{Enabled: true, FrequencyDays: 7, NextRefreshAt: &exampleAt, CreditsPerRefresh: 2}},
		}, s.track),
	}
}

const exampleJob = "profile_report:019d3889-2b11-7d5a-9e0c-0c8f1d3e0010"

var (
	exampleAt    = teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}
	exampleEntry = Entry{ID: "019d3889-2b10-7c1e-8a3f-5d2b6f6f0011", Kind: Profile, Subject: "harbour.coffee", Status: Ready, Platform: "instagram", RefreshedAt: &exampleAt, AvailableUntil: &exampleAt}
)

func exampleSummary() Summary {
	ratio := result.Ratio{Value: 1.62, Low: 1.31, High: 2.003, Shrunk: new(1.55)}
	return Summary{
		Entry: exampleEntry, MeasuredAt: &exampleAt, SectionsAvailable: []string{"posts", "hashtags", "words", "times", "formats", "cadence", "score"},
		Profile: &Account{Username: "harbour.coffee", URL: "https://www.instagram.com/harbour.coffee", Biography: &operation.Pointer{Untrusted: "u1"}, Followers: new(int64(18_204)), Follows: new(int64(310)), Posts: new(int64(412))},
		Engagement: &result.Engagement{
			Basis: result.Measured, PostsAnalysed: 398, Counts: []string{"likes", "comments"}, PostsPerWeek: new(3.962),
			RateByFollowers: &result.Median{Median: 0.01714, Low: new(0.0162), High: new(0.01813), LowerQuartile: 0.01112, UpperQuartile: 0.02631, Posts: 398},
			Likes:           &result.Median{Median: 301, Low: new(284.0), High: new(318.0), LowerQuartile: 195, UpperQuartile: 462, Posts: 398},
			Comments:        &result.Median{Median: 11, Low: new(10.0), High: new(12.0), LowerQuartile: 6, UpperQuartile: 19, Posts: 398},
		},
		Score: &result.Score{Value: 60.2, Components: []result.Component{
			{Name: "engagement", Value: 61.7, Weight: 0.5385}, {Name: "activity", Value: 62.1, Weight: 0.2308}, {Name: "consistency", Value: 54.8, Weight: 0.2308}}},
		TopHashtags: []result.Hashtag{{Hashtag: "latteart", Posts: 96, Ratio: &ratio, Works: new(true)}},
		TopWords:    []result.Word{{Word: "espresso", Posts: 71}},
		BestTime:    &result.BestTime{Weekday: "saturday", Hour: 8, Hours: 4, Days: "weekend", Posts: 44, StandsOut: true, Ratio: ratio, Low: 1.19, High: 2.21},
	}
}
