package clients

import (
	"bytes"
	"encoding/json"
	"testing"

	"pressroom.example/pressroom/client"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/testkit/must"
)

// strictly decodes a job's result and fails on unknown members.
func strictly[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var out T
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return out
}

// The result of each type of job has the members of its type.
func TestResults(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	c := g.client(t)
	ended := func(jobID string, err error) json.RawMessage {
		t.Helper()
		must.NoError(t, err)
		a := must.Get(c.Wait(t.Context(), jobID))(t)
		return a.Data.Result
	}
	start := func(name string, in map[string]any) json.RawMessage {
		t.Helper()
		a := must.Get(c.Call(t.Context(), name, in))(t)
		var job client.Job
		must.NoError(t, json.Unmarshal(a.Data, &job))
		return ended(job.JobID, nil)
	}
	if r := strictly[client.ReportResult](t,
		start("create_report", map[string]any{"type": "hashtag", "subject": "#coffee"})); r.Report.ID == "" ||
		r.Report.Status != client.ReportStatusReady {
		t.Errorf("%+v", r)
	}
	search := strictly[client.SearchResult](t, start("search_hashtags", map[string]any{"query": "coffee"}))
	if len(search.Hashtags) == 0 || search.Hashtags[0].Hashtag == "" || search.Hashtags[0].MeasuredAt == nil {
		t.Errorf("%+v", search)
	}
	download := strictly[client.DownloadResult](t,
		start("download_profile_media", map[string]any{"platform": "instagram", "type": "posts", "username": "studio.north", "limit": 2}))
	if len(download.Items) != 2 || download.Items[0].MediaID == nil {
		t.Errorf("%+v", download)
	}
	post := must.Get(c.CreatePost(t.Context(), client.CreatePostInput{Caption: "results", AccountIDs: []int64{1}}))(t)
	if r := strictly[client.PostResult](t,
		start("publish_post", map[string]any{"post_id": post.Data.ID})); len(r.Accounts) != 1 || r.Accounts[0].Permalink == "" {
		t.Errorf("%+v", r)
	}
	file := client.FileFromBytes("results.png", picture(t, 31, 5))
	batch := must.Get(c.CreateUploads(t.Context(),
		client.CreateUploadsInput{Files: []client.UploadFile{{SHA256: file.SHA256, SizeBytes: file.Size}}}))(t)
	job := must.Get(c.GetJob(t.Context(), client.GetJobInput{JobID: batch.Data.JobID}))(t)
	if r := strictly[client.UploadResult](t, job.Data.Result); len(r.Files) != 1 || r.Files[0].State != client.UploadStateWaiting {
		t.Errorf("%+v", r)
	}
	// No public URL is available to import.
	imported, err := json.Marshal(media.ImportResult{Media: media.ImportResultMedia{ID: 7}, Already: true})
	must.NoError(t, err)
	if r := strictly[client.ImportResult](t, imported); r.Media.ID != 7 || !r.AlreadyInLibrary {
		t.Errorf("%+v", r)
	}
}

// The response to every read has no members that its type lacks.
func TestResponsesMatchTypes(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	c := g.client(t)
	me, err := c.GetIdentity(t.Context())
	checkMembers(t, me, err)
	credits, err := c.GetCredits(t.Context())
	checkMembers(t, credits, err)
	limits, err := c.GetLimits(t.Context())
	checkMembers(t, limits, err)
	voices, err := c.ListBrandVoices(t.Context())
	checkMembers(t, voices, err)
	lists, err := c.ListHashtagLists(t.Context(), client.ListHashtagListsInput{})
	checkMembers(t, lists, err)
	list, err := c.GetHashtagList(t.Context(), client.GetHashtagListInput{ListID: lists.Data.HashtagLists[0].ID})
	checkMembers(t, list, err)
	library, err := c.ListMedia(t.Context(), client.ListMediaInput{})
	checkMembers(t, library, err)
	accounts, err := c.ListSocialAccounts(t.Context(), client.ListSocialAccountsInput{})
	checkMembers(t, accounts, err)
	analytics, err := c.GetAccountAnalytics(t.Context(), client.GetAccountAnalyticsInput{AccountID: 1})
	checkMembers(t, analytics, err)
	reports, err := c.ListReports(t.Context(), client.ListReportsInput{Status: client.ReportStatusReady})
	checkMembers(t, reports, err)
	r := reports.Data.Reports[0]
	report, err := c.GetReport(t.Context(), client.GetReportInput{Type: r.Kind, ID: r.ID})
	checkMembers(t, report, err)
	sections, err := c.GetReport(t.Context(), client.GetReportInput{Type: r.Kind, ID: r.ID, Sections: report.Data.SectionsAvailable})
	checkMembers(t, sections, err)
	for post, err := range c.ListPostsAll(t.Context(), client.ListPostsInput{}) {
		must.NoError(t, err)
		full, err := c.GetPost(t.Context(), client.GetPostInput{ID: post.ID})
		checkMembers(t, full, err)
		found, err := c.ValidatePost(t.Context(), client.ValidatePostInput{PostID: post.ID})
		checkMembers(t, found, err)
	}
}

// checkMembers fails if an answer has a member that its type lacks.
func checkMembers[T any](t *testing.T, a *client.Answer[T], err error) {
	t.Helper()
	must.NoError(t, err)
	var whole struct{ Data json.RawMessage }
	must.NoError(t, json.Unmarshal(a.Raw, &whole))
	strictly[T](t, whole.Data)
}
