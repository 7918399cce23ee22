package networks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/testkit"
)

// TestTitles publishes posts with a title. Networks that have titles receive it, and validation checks its length.
func TestTitles(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnv(t, database)
		photos := w.titled(w.images[:2], "tiktok", "bluesky")
		w.ok(http.MethodPatch, "/posts/"+photos, map[string]any{"title": strings.Repeat("x", 91)})
		w.checkTitleProblems(photos, w.accounts["tiktok"][usual])
		w.ok(http.MethodPatch, "/posts/"+photos, map[string]any{"title": " Winter\nphotos "})
		w.checkTitleProblems(photos)
		film := w.titled([]int64{w.video}, "youtube", "pinterest", "facebook")
		w.ok(http.MethodPatch, "/posts/"+film, map[string]any{"title": strings.Repeat("x", 101)})
		w.checkTitleProblems(film, w.accounts["youtube"][usual], w.accounts["pinterest"][usual])
		w.ok(http.MethodPatch, "/posts/"+film, map[string]any{"title": "Winter menu", "options": map[string]any{
			"pinterest": map[string]any{"title": "Pin of the menu"}, "youtube": map[string]any{"category_id": "27"},
		}, "overrides": []map[string]any{{"account_id": w.accounts["facebook"][usual], "title": "For Facebook"}}})
		w.checkTitleProblems(film)
		w.proxy.startRecording()
		for _, id := range []string{photos, film} {
			w.awaitJob(w.publish(sent{id: id}))
		}
		for platform, title := range map[string]string{
			"tiktok": `"title":"Winter photos"`, "youtube": `"title":"Winter menu"`, "pinterest": `"title":"Pin of the menu"`,
			"facebook": "title=For+Facebook",
		} {
			w.checkCopies(sent{platform: platform, text: "the text", media: 1 + strings.Count(platform, "tiktok")}, 1, 1)
			if !strings.Contains(w.proxy.recording(platform), title) {
				t.Errorf("%s did not receive %s: %s", platform, title, w.proxy.recording(platform))
			}
		}
	})
}

// titled creates a draft for accounts on networks and returns its ID.
func (w *env) titled(media []int64, platforms ...string) string {
	w.t.Helper()
	accounts := []int64{}
	for _, platform := range platforms {
		accounts = append(accounts, w.accounts[platform][usual])
	}
	made := w.call(http.MethodPost, "/posts", map[string]any{"caption": "the text", "title": "Title",
		"media_ids": media, "account_ids": accounts})
	id, _ := made.Data()["id"].(string)
	return id
}

// checkTitleProblems checks which accounts of a post have a title that is too long.
func (w *env) checkTitleProblems(id string, accounts ...int64) {
	w.t.Helper()
	want, got := []any{}, []any{}
	for _, account := range accounts {
		want = append(want, float64(account))
	}
	found, _ := w.get("/posts/" + id + "/validation")["problems"].([]any)
	for _, one := range found {
		problem, _ := one.(map[string]any)
		if problem["code"] == "title_too_long" && problem["field"] == "title" && problem["blocking"] == true {
			got = append(got, problem["account_id"])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("problems %v: %s", found, diff)
	}
}
