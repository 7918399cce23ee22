package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Concurrent requests for one subject create one report, which is charged once.
func TestConcurrentReport(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		grantThousand(w)
		var mu sync.Mutex
		jobs := map[string]bool{}
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				got, err := w.try(http.MethodPost, w.base+"/reports", merged2(bearer(full(w)), fmt.Sprint("k", i)),
					[]byte(`{"type":"profile","subject":"harbour_cafe"}`))
				mu.Lock()
				defer mu.Unlock()
				if err != nil || got.status != http.StatusAccepted {
					t.Errorf("%v: %s", err, got.raw)
					return
				}
				jobs[got.text("data.job_id")] = true
			})
		}
		wg.Wait()
		for id := range jobs {
			w.awaitJob(id).mustHave(t, map[string]any{"data.state": "succeeded"})
		}
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000 - profilePrice})
		if len(jobs) != 1 || w.count("reports WHERE team_id = ?", w.team) != 1 {
			t.Errorf("%d jobs created %d reports", len(jobs), w.count("reports WHERE team_id = ?", w.team))
		}
		w.mustBeSound()
	})
}

func merged2(header http.Header, key string) http.Header {
	header = header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Idempotency-Key", key)
	return header
}

// The list can be filtered by every field. It has every report of the team once, and no report of other teams.
func TestReportList(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		grantThousand(w)
		ids := map[string]string{}
		for name, more := range map[string]map[string]any{
			"cafe": nil, "bar": {"subject": "harbour_bar"}, "tok": {"platform": "tiktok", "subject": "harbour_cafe"}, "tag": aHashtag,
		} {
			ids[name] = w.report(more)
		}
		w.awaitJob(w.rest(full(w), "create_report", reportArgs(map[string]any{"subject": "missing.cafe"})(w), "k").text("data.job_id"))
		w.rest(full(w), "set_report_tracking", map[string]any{"type": "profile", "id": ids["bar"], "enabled": true},
			"t").mustBe(t, http.StatusOK)
		addReport(nil)(w.stranger())
		for filter, c := range map[string]struct {
			args map[string]any
			want []string
		}{
			"profiles":                   {map[string]any{"type": "profile", "status": "ready"}, []string{"cafe", "bar", "tok"}},
			"hashtags":                   {map[string]any{"type": "hashtag"}, []string{"tag"}},
			"TikTok":                     {map[string]any{"platform": "tiktok"}, []string{"tok"}},
			"tracked":                    {map[string]any{"tracked_only": true}, []string{"bar"}},
			"ready":                      {map[string]any{"status": "ready"}, []string{"cafe", "bar", "tok", "tag"}},
			"named":                      {map[string]any{"query": "@CAFE", "status": "ready"}, []string{"cafe", "tok"}},
			"a part of a hashtag":        {map[string]any{"query": "dough"}, []string{"tag"}},
			"a sign that stands for any": {map[string]any{"query": "%"}, nil},
			"an underscore":              {map[string]any{"query": "r_b"}, []string{"bar"}},
		} {
			var want []string
			for _, name := range c.want {
				want = append(want, ids[name])
			}
			slices.Sort(want)
			slices.Reverse(want) // the newest first
			var got []string
			args := mergeArgs(c.args, map[string]any{"limit": 2})
			for {
				page := w.full("list_reports", args)
				for i := range page.list("data.reports") {
					got = append(got, page.text(fmt.Sprintf("data.reports.%d.id", i)))
				}
				if page.at("page.cursor") == nil {
					break
				}
				args["cursor"] = page.text("page.cursor")
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", filter, got, want)
			}
		}
	})
}

// Every report on at least 30 dated posts has a best time and states whether it is significant.
func TestBestTime(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		grantThousand(w)
		dated, guesses := 0, 0
		for _, c := range []map[string]any{
			nil, {"subject": "alpha.coffee"}, {"subject": "delta.art"}, {"platform": "tiktok", "subject": "gamma.fit"}, aHashtag,
		} {
			args := map[string]any{"type": "profile", "id": w.report(c), "sections": []any{"posts"}, "limit": 50}
			if c["type"] != nil {
				args["type"] = c["type"]
			}
			got := w.full("get_report", args)
			if len(got.list("data.sections.posts.posts")) < 30 {
				t.Logf("%v has only %d posts", c, len(got.list("data.sections.posts.posts")))
				continue
			}
			dated++
			standsOut, told := got.at("data.best_time.stands_out").(bool)
			if low, high := got.at("data.best_time.low"), got.at("data.best_time.high"); !told || low == nil ||
				high == nil || got.text("data.best_time.weekday") == "" {
				t.Errorf("%v: incomplete best time: %v", c, got.at("data.best_time"))
			}
			if guess := strings.Contains(string(got.raw), "best time is a guess"); guess == standsOut {
				t.Errorf("%v: significant: %v, but noted as a guess: %v", c, standsOut, guess)
			}
			if !standsOut {
				guesses++
			}
			tool := w.tool(full(w), "get_report", args, "")
			if fmt.Sprint(tool.at("data.best_time")) != fmt.Sprint(got.at("data.best_time")) {
				t.Errorf("%v: the tool returns %v", c, tool.at("data.best_time"))
			}
		}
		if dated < 3 || guesses == 0 {
			t.Errorf("%d reports on 30 posts, %d guesses", dated, guesses)
		}
	})
}

// The pages of a section contain every post and every hashtag once.
func TestReportSections(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		addReport(nil)(w)
		summary := w.full("get_report", notedReport("profile", nil)(w))
		available := summary.list("data.sections_available")
		whole := w.full("get_report", notedReport("profile", map[string]any{"sections": available, "limit": 50})(w))
		for _, name := range available {
			if whole.at("data.sections."+fmt.Sprint(name)) == nil {
				t.Errorf("missing section %v: %s", name, whole.raw)
			}
		}
		posts, tags := map[string]bool{}, map[string]bool{}
		args := notedReport("profile", map[string]any{"sections": []any{"posts", "hashtags"}, "limit": 7})(w)
		for pages := 0; ; pages++ {
			got := w.full("get_report", args)
			w.mustSeparateTexts(got)
			for i := range got.list("data.sections.posts.posts") {
				id := got.text(fmt.Sprintf("data.sections.posts.posts.%d.id", i))
				if posts[id] {
					t.Errorf("duplicate post %s", id)
				}
				posts[id] = true
			}
			for i := range got.list("data.sections.hashtags.hashtags") {
				tag := got.text(fmt.Sprintf("data.sections.hashtags.hashtags.%d.hashtag", i))
				if tags[tag] {
					t.Errorf("duplicate hashtag %s", tag)
				}
				tags[tag] = true
			}
			if got.at("page.cursor") == nil || pages > 100 {
				break
			}
			args["cursor"] = got.text("page.cursor")
		}
		if n := w.count("report_posts WHERE report_id = ?", w.notes["report"]); len(posts) != n || n < 8 {
			t.Errorf("got %d of %d posts", len(posts), n)
		}
		if got := whole.number("data.sections.hashtags.different"); int64(len(tags)) != got {
			t.Errorf("got %d of %d hashtags", len(tags), got)
		}
	})
}

// A tracked report is refreshed on time and charged. When credits run out, tracking ends and a note says so.
func TestTracking(t *testing.T) {
	t.Parallel()
	ahead := &fixture.Clock{}
	withEnv(t, options{accounts: 1, now: ahead.Now}, func(t *testing.T, w *env) {
		w.grant(profilePrice + 2*profileRefreshPrice + 1)
		w.notes["report"] = w.report(nil)
		w.rest(full(w), "set_report_tracking", notedReport("profile", map[string]any{"enabled": true, "frequency_days": 1})(w),
			"on").mustBe(t, http.StatusOK)
		report := func() answer { return w.full("get_report", notedReport("profile", nil)(w)) }
		for n := 1; n <= 2; n++ {
			before := report().text("data.measured_at.utc")
			w.exec("UPDATE reports SET next_refresh_at = 1 WHERE id = ?", w.notes["report"])
			w.until("the report to be refreshed", func() bool { return report().text("data.measured_at.utc") > before })
			w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1 + (2-n)*profileRefreshPrice})
		}
		w.exec("UPDATE reports SET next_refresh_at = 1 WHERE id = ?", w.notes["report"])
		w.until("tracking to end", func() bool { return report().at("data.tracked") == false })
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1, "data.reserved_today.key": 0})
		if notes := fmt.Sprint(report().list("notes")); !strings.Contains(notes, "Tracking has stopped") {
			t.Errorf("no note about the end of tracking: %s", notes)
		}
		w.mustBeSound()
	})
}

// While spending is paused, automatic refreshes wait and are not charged.
func TestTrackingWhilePaused(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		addReport(nil)(w)
		w.rest(full(w), "set_report_tracking", notedReport("profile", map[string]any{"enabled": true})(w), "on").mustBe(t, http.StatusOK)
		pause := pausesOf("team")[1]
		must.NoError(t, pause.closes(w))
		w.exec("UPDATE reports SET next_refresh_at = 1 WHERE id = ?", w.notes["report"])
		w.until("the refresh to be put off", func() bool {
			return w.count("reports WHERE id = ? AND next_refresh_at > 1", w.notes["report"]) == 1
		})
		w.full("get_report", notedReport("profile", nil)(w)).mustHave(t, map[string]any{"data.tracked": true})
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000 - profilePrice})
		must.NoError(t, pause.opens(w))
		w.exec("UPDATE reports SET next_refresh_at = 1 WHERE id = ?", w.notes["report"])
		w.until("the refresh to be charged", func() bool {
			return w.full("get_credits", nil).number("data.balance") == 1000-profilePrice-profileRefreshPrice
		})
	})
}

// If the provider is unavailable, calls fail without effects. Existing data is still returned.
func TestProviderUnavailable(t *testing.T) {
	t.Parallel()
	ahead := &fixture.Clock{}
	withEnv(t, options{accounts: 1, now: ahead.Now}, func(t *testing.T, w *env) {
		addReport(nil)(w)
		down := func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/vendor/") {
				return false
			}
			rw.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		w.inject.Store(&down)
		ahead.Advance(time.Minute)
		before := w.footprint()
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "create_report", reportArgs(map[string]any{"subject": "harbour_bar"})(w), "k").
				mustReject(t, http.StatusBadGateway, "provider_unavailable", "")
			call(full(w), "create_report", reportArgs(nil)(w), "has it").
				mustHave(t, map[string]any{"data.result.report.id": w.notes["report"], "billing.credits_charged": 0})
		}
		if effects := w.footprint().changesSince(before); effects != (rows{paid: 1}) {
			t.Errorf("changed %+v", effects)
		}
		w.inject.Store(nil)
		ahead.Advance(time.Minute)
		w.rest(full(w), "create_report", reportArgs(map[string]any{"subject": "harbour_bar"})(w), "k").mustBe(t, http.StatusAccepted)
	})
	withEnv(t, options{accounts: 1, unjoined: true}, func(t *testing.T, w *env) {
		grantThousand(w)
		w.rest(full(w), "create_report", reportArgs(nil)(w), "k").mustReject(t, http.StatusBadGateway, "provider_unavailable", "")
	})
}

// A report that expires and is swept while it is being refreshed is kept.
func TestRefreshPastExpiry(t *testing.T) {
	t.Parallel()
	ahead := &fixture.Clock{}
	withEnv(t, options{accounts: 1, now: ahead.Now}, func(t *testing.T, w *env) {
		addReport(nil)(w)
		w.exec("UPDATE reports SET available_until = ? WHERE id = ?", db.Micros(ahead.Now().Add(30*time.Second)), w.notes["report"])
		asked, answered := make(chan struct{}, 100), make(chan struct{})
		slow := func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, "/vendor/") {
				asked <- struct{}{}
				<-answered
			}
			return false
		}
		w.inject.Store(&slow)
		got := w.rest(full(w), "refresh_report", notedReport("profile", nil)(w), "k")
		got.mustBe(t, http.StatusAccepted)
		<-asked
		ahead.Advance(time.Minute)
		if _, err := w.Reports.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		close(answered)
		w.awaitJob(got.text("data.job_id")).
			mustHave(t,
				map[string]any{
					"data.state": "succeeded", "data.result.report.id": w.notes["report"],
					"data.result.credits_charged": profileRefreshPrice,
				})
		w.full("get_report", notedReport("profile", nil)(w)).mustBe(t, http.StatusOK)
		w.mustBeSound()
	})
}

// A refresh without new data does not extend a report's lifetime, because it is free.
func TestRefreshWithoutNewData(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		addReport(nil)(w)
		until := db.Micros(time.Now().Add(time.Hour))
		w.exec("UPDATE reports SET subject = 'missing.harbour', refreshed_at = refreshed_at - (available_until - ?), "+
			"available_until = ? WHERE id = ?", until, until, w.notes["report"])
		got := w.rest(full(w), "refresh_report", notedReport("profile", nil)(w), "k")
		got.mustBe(t, http.StatusAccepted)
		w.awaitJob(got.text("data.job_id")).mustHave(t, map[string]any{"data.state": "failed", "data.error.code": "profile_not_found"})
		if w.count("reports WHERE id = ? AND available_until = ?", w.notes["report"], until) != 1 {
			t.Error("the expiry was changed")
		}
	})
}
