package browser

import "testing"

func TestNotices(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	run := quickstart(t)
	for _, caption := range []string{"No [sandbox:reject]", "Not this one [sandbox:reject]"} {
		post := callAPI(t, run, "POST", "/posts", map[string]any{"caption": caption, "account_ids": []int{1}})
		callAPI(t, run, "POST", "/posts/"+post["id"].(string)+"/publish", map[string]any{})
	}
	drive(t, "notices.js", run, world)
}

func TestReference(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	drive(t, "reference.js", quickstart(t), world)
}
