package browser

import "testing"

func TestNotices(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	run := quickstart(t)
	for _, caption := range []string{"No [sandbox:reject]", "Not this one [sandbox:reject]"} {
		post := asks(t, run, "POST", "/posts", map[string]any{"caption": caption, "account_ids": []int{1}})
		asks(t, run, "POST", "/posts/"+post["id"].(string)+"/publish", map[string]any{})
	}
	drive(t, "notices.js", run, world)
}

func TestReference(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "reference.js", quickstart(t), world)
}
