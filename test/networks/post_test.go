package networks

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	outcomeWithin = 3 * time.Minute // of real time
	pollEvery     = 30 * time.Millisecond
	moveBy        = 5 * time.Second // step of the clock if all deliveries wait
)

// sent is a post of one account.
type sent struct {
	platform string
	text     string
	media    int
	id       string
	job      string // path of the job
	rejected string // reason if the post could not be submitted; "" otherwise
}

// draft creates a draft for one account.
func (w *env) draft(platform, person, text string, media []int64) sent {
	w.t.Helper()
	body := map[string]any{"caption": text, "account_ids": []int64{w.accounts[platform][person]}}
	if len(media) > 0 {
		body["media_ids"] = media
	}
	made := w.call(http.MethodPost, "/posts", body)
	if made.Status != http.StatusCreated {
		w.t.Fatalf("drafting for %s: %d %s", platform, made.Status, made.Code())
	}
	id, _ := made.Data()["id"].(string)
	return sent{platform: platform, text: text, media: len(media), id: id}
}

// publish submits a draft, or records why it cannot be submitted.
func (w *env) publish(s sent) sent {
	w.t.Helper()
	begun := w.call(http.MethodPost, "/posts/"+s.id+"/publish", nil)
	switch begun.Code() {
	case "":
		id, _ := begun.Data()["job_id"].(string)
		s.job = "/jobs/" + id
	case "preflight_blocked":
		s.rejected = w.problems(s.id)
	default:
		w.t.Fatalf("publishing on %s: %d %s", s.platform, begun.Status, begun.Code())
	}
	return s
}

// problems returns the codes of the problems that block a post.
func (w *env) problems(id string) string {
	w.t.Helper()
	found, _ := w.get("/posts/" + id + "/validation")["problems"].([]any)
	var codes []string
	for _, p := range found {
		problem, _ := p.(map[string]any)
		if problem["blocking"] == true {
			codes = append(codes, fmt.Sprint(problem["code"]))
		}
	}
	slices.Sort(codes)
	return strings.Join(slices.Compact(codes), ", ")
}

// awaitJob waits until a job has ended. If all deliveries wait for a later time, it advances the clock.
func (w *env) awaitJob(s sent) {
	w.t.Helper()
	for begun := time.Now(); w.get(s.job)["finished"] != true; <-time.After(pollEvery) {
		if time.Since(begun) > outcomeWithin {
			w.t.Fatalf("%s: %q has no outcome", s.platform, s.text)
		}
		if w.idle() {
			w.clock.Advance(moveBy)
		}
	}
}

// idle reports whether unfinished deliveries exist but none is running.
func (w *env) idle() bool {
	w.t.Helper()
	var held, left int
	must.NoError(w.t, w.db.QueryRow(w.t.Context(),
		`SELECT COALESCE(SUM(CASE WHEN owner <> '' THEN 1 ELSE 0 END), 0), COUNT(*) FROM deliveries
		WHERE phase <> 'ended'`).Scan(&held, &left))
	return held == 0 && left > 0
}

// outcome waits for the final result of a post, compares it with the network and describes it.
func (w *env) outcome(s sent) string {
	w.t.Helper()
	if s.rejected != "" {
		w.checkCopies(s, 0, 0)
		return "not sent: `" + s.rejected + "`"
	}
	w.awaitJob(s)
	return w.accountState(s, 1)
}

// accountState returns the state of the post's account. For a published post it includes the number of copies on the
// network.
func (w *env) accountState(s sent, copies int) string {
	w.t.Helper()
	accounts, _ := w.get("/posts/" + s.id)["accounts"].([]any)
	account, _ := accounts[0].(map[string]any)
	switch state := account["state"]; state {
	case "published":
		w.checkCopies(s, copies, copies)
		return "once"
	case "failed":
		if keepsRejected(s) {
			copies++
		}
		w.checkCopies(s, copies-1, copies-1)
		return "fails: `" + fmt.Sprint(account["error_code"]) + "`"
	default:
		w.checkCopies(s, 0, 1)
		return fmt.Sprint(state)
	}
}

// keepsRejected reports whether the network keeps a rejected post. YouTube stores a video before deciding.
func keepsRejected(s sent) bool {
	return s.platform == "youtube" &&
		(strings.Contains(s.text, "[sandbox:unapproved]") || strings.Contains(s.text, "[sandbox:drop]"))
}

// checkCopies checks the number of posts with the text on the network, and that each post has all of its media.
func (w *env) checkCopies(s sent, least, most int) {
	w.t.Helper()
	n, media := w.postsOn(s.platform, s.text)
	if n < least || n > most {
		w.t.Errorf("%s has %q %d times", s.platform, s.text, n)
	}
	for _, shown := range media {
		if shown != s.media {
			w.t.Errorf("%s shows %d media of %q, want %d", s.platform, shown, s.text, s.media)
		}
	}
}

// least returns the minimum of media for a post on a network.
func (w *env) least(platform string) []int64 {
	switch platform {
	case "instagram", "pinterest":
		return w.images[:1]
	case "tiktok", "youtube":
		return []int64{w.video}
	}
	return nil
}

// mediaWithImage returns the minimum of media, but at least one image.
func (w *env) mediaWithImage(platform string) []int64 {
	if least := w.least(platform); least != nil {
		return least
	}
	return w.images[:1]
}
