package browser

import (
	"net/http"
	"testing"
)

func TestLive(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	run := quickstart(t)
	for _, a := range callAPI(t, run, http.MethodGet, "/social-accounts", nil)["social_accounts"].([]any) {
		if account := a.(map[string]any); account["platform"] == "bluesky" {
			world["bluesky"] = account["id"]
		}
	}
	drive(t, "live.js", run, world)
}
