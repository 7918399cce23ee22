package browser

import (
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

func TestCalendar(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	run := quickstart(t)
	accounts := callAPI(t, run, http.MethodGet, "/social-accounts", nil)["social_accounts"].([]any)
	account := accounts[0].(map[string]any)["id"]
	// Two days in the same week and month, without other posts.
	monday := time.Now().In(must.Get(time.LoadLocation("Europe/Berlin"))(t)).AddDate(0, 2, 0)
	monday = time.Date(monday.Year(), monday.Month(), 8, 10, 0, 0, 0, monday.Location())
	for monday.Weekday() != time.Monday {
		monday = monday.AddDate(0, 0, 1)
	}
	world["days"] = []string{monday.AddDate(0, 0, 1).Format(time.DateOnly), monday.AddDate(0, 0, 3).Format(time.DateOnly)}
	world["market"] = createDraft(t, run, "Winter market", monday.AddDate(0, 0, 1).Format(time.RFC3339), account)
	world["agreed"] = createDraft(t, run, "As agreed", monday.AddDate(0, 0, 1).Add(time.Hour).Format(time.RFC3339), account)
	createDraft(t, run, "Latte art", "", account)
	drive(t, "calendar.js", run, world)
}
