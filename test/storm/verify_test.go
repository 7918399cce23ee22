package storm

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/fixture"
)

// verifier compares the final state with the responses that the clients got.
type verifier struct {
	*site

	reader *client
	found  []complaint
	parts  map[string]map[string][]fixture.Post // parts of threads and comments on the networks, by platform and unique text
}

// verify returns all errors, including those that the clients recorded.
func (s *site) verify() []complaint {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r := &verifier{site: s, reader: s.client(ctx, s.teams[0], 99)}
	for _, part := range []struct {
		name string
		look func(context.Context) error
	}{
		{"posts", r.posts}, {"the networks' posts", r.unknownPosts}, {"events", r.events}, {"charges", r.charges},
		{"limits", r.limits}, {"free calls", r.freeCalls}, {"files", r.files}, {"hashtag lists", r.lists},
		{"keys", r.keys}, {"unfinished work", r.checkStuck}, {"the audit", r.audit}, {"the programs", r.programs},
	} {
		if err := part.look(ctx); err != nil {
			r.complainf("unread", "%s: %v", part.name, err)
		}
	}
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return append(slices.Clone(s.book.complaints), r.found...)
}

func (r *verifier) complainf(kind, format string, args ...any) {
	r.found = append(r.found, complaint{kind, fmt.Sprintf(format, args...)})
}

// shown is a post as the API shows it.
type shown struct {
	Status   string
	Caption  string
	Accounts []struct {
		ID        int64
		Platform  string
		State     string
		ErrorCode string `json:"error_code"`
		Published any    `json:"published_at"`
		Parts     []struct{ State string }
		Comment   *struct{ State string } `json:"first_comment"`
	}
}

// posts checks all posts and their copies on the networks.
func (r *verifier) posts(ctx context.Context) error {
	held := r.networkPosts()
	copies := map[string]map[string][]fixture.Post{} // by platform and mark
	for platform, posts := range held {
		copies[platform] = map[string][]fixture.Post{}
		for _, p := range posts {
			copies[platform][markOf(p.Text)] = append(copies[platform][markOf(p.Text)], p)
		}
	}
	r.parts = partsOf(held)
	for _, p := range r.book.posts {
		if p.id == "" {
			if err := r.unknown(ctx, p, copies); err != nil {
				return err
			}
			continue
		}
		a := r.reader.do(call{tool: "get_post", method: http.MethodGet, path: "/posts/" + p.id, key: p.team.keys[0]})
		if !a.ok() {
			r.complainf("lost", "%s is %s", p.mark, a.outcome())
			continue
		}
		var now shown
		a.into(&now)
		r.post(p, now, copies)
	}
	return nil
}

// partsOf returns the parts of threads and the first comments on the networks, by platform and unique text.
func partsOf(held map[string][]fixture.Post) map[string]map[string][]fixture.Post {
	out := map[string]map[string][]fixture.Post{}
	for platform, posts := range held {
		out[platform] = map[string][]fixture.Post{}
		for _, p := range posts {
			if mark, _, _ := strings.Cut(p.Text, " ["); isPart(mark) {
				out[platform][mark] = append(out[platform][mark], p)
			}
		}
	}
	return out
}

// isPart reports whether a text is that of a part of a thread or of a first comment.
func isPart(text string) bool {
	return strings.HasPrefix(text, "storm part ") || strings.HasPrefix(text, "storm comment ")
}

// markOf returns the unique part of a post's text, or "" if the storm did not create the post.
func markOf(text string) string {
	at := strings.Index(text, "storm post ")
	if end := at + len("storm post 000000."); at >= 0 && end <= len(text) {
		return text[at:end]
	}
	return ""
}

// unknown checks a draft whose creation was not confirmed.
func (r *verifier) unknown(ctx context.Context, p *posted, copies map[string]map[string][]fixture.Post) error {
	var n int
	if err := r.db.QueryRow(ctx, `SELECT COUNT(*) FROM posts WHERE caption LIKE ?`, p.mark+"%").Scan(&n); err != nil {
		return err
	}
	if n > 1 || n > 0 && p.isAnswered {
		r.complainf("doubled", "%s, which no response confirmed, exists %d times", p.mark, n)
	}
	for platform, of := range copies {
		if len(of[p.mark]) > 0 {
			r.complainf("sent", "%s has %s, which nobody published", platform, p.mark)
		}
	}
	return nil
}

// mayFail reports whether faults or the post's text can cause an error code of an account.
func (p *posted) mayFail(code string) bool {
	switch code {
	case "rejected_content":
		return p.bad
	case "rate_limited":
		return p.busy
	}
	return slices.Contains([]string{"network_error", "account_needs_reauth", "preflight_blocked", "thread_interrupted"}, code)
}

// post compares a post with its expected state.
func (r *verifier) post(p *posted, now shown, copies map[string]map[string][]fixture.Post) {
	if !strings.HasPrefix(now.Caption, p.mark) {
		r.complainf("changed", "%s has the text %q", p.mark, now.Caption)
	}
	sent := now.Status != "draft"
	switch {
	case p.state == drafted && sent:
		r.complainf("sent", "%s is %s, but nobody published it", p.mark, now.Status)
	case (p.state == scheduled || p.state == submitted) && !sent:
		r.complainf("lost", "%s was %s but is a draft", p.mark, p.state)
	}
	if len(now.Accounts) != len(p.targets) {
		r.complainf("lost", "%s has %d accounts, want %d", p.mark, len(now.Accounts), len(p.targets))
	}
	for _, a := range now.Accounts {
		there := copies[a.Platform][p.mark]
		n := len(there)
		switch {
		case n > 1:
			r.complainf("doubled", "%s was published %d times on %s (%s %s)%s%s", p.mark, n, a.Platform, a.State, a.ErrorCode,
				r.history(p.id, a.ID), r.transport.history(p.mark, there))
		case a.State == "published" && n == 0:
			r.complainf("lost", "%s is reported as published on %s but is not%s", p.mark, a.Platform, r.history(p.id, a.ID))
		case n == 1 && a.State != "published" && a.State != "unconfirmed" && (p.parts == 0 || a.Published == nil):
			r.complainf("misreported", "%s is published on %s but reported as %s %s%s", p.mark, a.Platform, a.State, a.ErrorCode,
				r.history(p.id, a.ID))
		case a.State == "failed" && !p.mayFail(a.ErrorCode):
			r.complainf("wrong", "%s failed on %s with %s", p.mark, a.Platform, a.ErrorCode)
		case a.State == "published" && p.bad:
			r.complainf("wrong", "%s was rejected by %s but is reported as published", p.mark, a.Platform)
		}
		if p.parts > 0 {
			r.thread(p, a.ID, a.Platform, there, partStates(a.Parts))
		}
		if p.commented {
			state := ""
			if a.Comment != nil {
				state = a.Comment.State
			}
			r.comment(p, a.ID, a.Platform, there, a.State == "published", state)
		}
		r.book.recordAnswer("outcome "+a.Platform, strings.TrimSpace(a.State+" "+a.ErrorCode), 0, 0)
	}
}

// history returns the attempts of a post's account, one per line.
func (r *verifier) history(post string, account int64) string {
	lines, err := db.All(context.Background(), r.db, func(rows *sql.Rows, line *string) error {
		var call, result, code string
		var epoch, began, ended int64
		err := rows.Scan(&epoch, &call, &began, &ended, &result, &code)
		*line = fmt.Sprintf("\n  epoch %d: %s from %s", epoch, call, db.Time(began).Format(time.StampMilli))
		if ended > 0 {
			*line += " to " + db.Time(ended).Format(time.StampMilli)
		}
		*line += " " + result + " " + code
		return err
	}, `SELECT a.epoch, a.call, a.started_at, a.ended_at, a.result, a.network_code FROM delivery_attempts a
		JOIN deliveries d ON d.id = a.delivery_id
		WHERE d.post_id = ? AND d.account_id = ? ORDER BY a.id`, post, account)
	if err != nil {
		return " (" + err.Error() + ")"
	}
	return strings.Join(lines, "")
}

// unknownPosts reports posts on the networks that no client created.
func (r *verifier) unknownPosts(context.Context) error {
	held := r.networkPosts()
	for platform, there := range held {
		for _, one := range there {
			mark := markOf(one.Text)
			if mark == "" {
				if strings.Contains(one.Text, "storm") && !isPart(one.Text) {
					r.complainf("sent", "%s has the unknown post %q", platform, one.Text)
				}
				continue
			}
			p := r.book.posts[mark]
			if p == nil || !slices.Contains(platforms(p), platform) {
				r.complainf("sent", "%s has %s, which is for other networks", platform, mark)
			}
		}
	}
	return nil
}

func platforms(p *posted) []string {
	var out []string
	for _, platform := range p.targets {
		out = append(out, platform)
	}
	return out
}

// events checks that each write has an event, and that there are no other events.
func (r *verifier) events(ctx context.Context) error {
	there := map[string]int{}
	type row struct{ kind, subject string }
	rows, err := db.All(ctx, r.db, func(rows *sql.Rows, e *row) error {
		return rows.Scan(&e.kind, &e.subject)
	}, `SELECT kind, subject FROM events WHERE key_id > 0`)
	if err != nil {
		return err
	}
	for _, e := range rows {
		there[e.kind+" "+e.subject]++
	}
	retried := map[string]int{}
	for _, p := range r.book.posts {
		if p.state == unclear {
			delete(there, "post.handed_over "+p.id)
			delete(there, "post.cancelled "+p.id)
		}
		retried["post.handed_over "+p.id] = p.retried
	}
	for what, n := range r.book.writes {
		// A retry without failed accounts has no event.
		if got := there[what]; got < n || got > n+retried[what] {
			r.complainf("event", "%d events %s for %d writes", got, what, n)
		}
		delete(there, what)
	}
	for _, p := range r.book.paid {
		delete(there, startEvents[p.tool]+" "+p.job) // A free call may have started a job or returned an existing one.
	}
	for what, n := range there {
		kind, subject, _ := strings.Cut(what, " ")
		if slices.Contains([]string{
			"post.scheduled", "post.cancelled", "post.handed_over", "post.changed", "uploads.opened", "hashtag.search", "media.download",
		}, kind) && n > retried[what] {
			r.complainf("event", "%d events %s of %s without a write", n, kind, subject)
		}
	}
	return nil
}

// lists checks that each hashtag list exists once.
func (r *verifier) lists(ctx context.Context) error {
	for _, l := range r.book.lists {
		var n int
		if err := r.db.QueryRow(ctx, `SELECT COUNT(*) FROM hashtag_lists WHERE team_id = ? AND name = ?`, l.team.ID,
			l.name).Scan(&n); err != nil {
			return err
		}
		switch {
		case n > 1:
			r.complainf("doubled", "%s was created %d times", l.name, n)
		case n == 0 && l.isConfirmed:
			r.complainf("lost", "%s does not exist", l.name)
		case n == 1 && !l.isConfirmed && l.once:
			r.complainf("misreported", "%s exists but was rejected", l.name)
		}
	}
	return nil
}

func (r *verifier) checkStuck(context.Context) error {
	if left, _ := r.unfinishedWork(); left != "" {
		r.complainf("stuck", "%s", left)
	}
	return nil
}

// audit runs the operator's audit command.
func (r *verifier) audit(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, r.binary, "admin", "--json", "audit", "--database", r.database, "--blobs", r.blobs)
	cmd.Env = append(os.Environ(), "PRESSROOM_SEALING_KEY="+r.sealing)
	raw, err := cmd.Output()
	var found struct {
		Complaints []struct{ Rule, Text string }
		Library    []json.RawMessage `json:"library_complaints"`
	}
	if jsonErr := json.Unmarshal(raw, &found); jsonErr != nil {
		return fmt.Errorf("%w: %s", jsonErr, raw)
	}
	for _, c := range found.Complaints {
		r.complainf("audit", "%s: %s", c.Rule, c.Text)
	}
	for _, c := range found.Library {
		r.complainf("audit", "the library: %s", c)
	}
	if err != nil && len(r.found) == 0 {
		return err
	}
	return nil
}

// readyAgain is how long a program may take to recover and catch up on missed work.
const readyAgain = 40 * time.Second

// programs checks that all programs are ready, and checks their logs.
func (r *verifier) programs(context.Context) error {
	for _, n := range r.nodes {
		began, why := time.Now(), n.unready()
		for ; why != "" && time.Since(began) < readyAgain; why = n.unready() {
			<-time.After(lookEvery)
		}
		if why != "" {
			r.complainf("died", "%s is not ready: %s", n.name, why)
		}
		if said := n.panicText(); said != "" {
			r.complainf("died", "the log of %s: %s", n.name, said)
		}
	}
	return nil
}
