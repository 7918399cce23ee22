package storm

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/db"
)

// reckoning holds what stands against what the clients were told.
type reckoning struct {
	*site

	reader *client
	found  []complaint
}

// reckon gives everything that must not be, what the clients noted meanwhile too.
func (s *site) reckon() []complaint {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r := &reckoning{site: s, reader: s.client(ctx, s.teams[0], 99)}
	for _, part := range []struct {
		name string
		look func(context.Context) error
	}{
		{"posts", r.posts}, {"what the networks hold", r.strangers}, {"events", r.events}, {"charges", r.charges},
		{"limits", r.limits}, {"free calls", r.freeCalls}, {"files", r.files}, {"hashtag lists", r.lists},
		{"keys", r.keys}, {"what is under way", r.stuck}, {"the audit", r.audit}, {"the programs", r.programs},
	} {
		if err := part.look(ctx); err != nil {
			r.complainf("unread", "%s: %v", part.name, err)
		}
	}
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return append(slices.Clone(s.book.complaints), r.found...)
}

func (r *reckoning) complainf(kind, format string, args ...any) {
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
	}
}

// posts looks at every post that anybody asked for, and at what the networks hold of it.
func (r *reckoning) posts(ctx context.Context) error {
	held, err := r.held()
	if err != nil {
		return err
	}
	copies := map[string]map[string][]standing{} // by platform and mark
	for platform, posts := range held {
		copies[platform] = map[string][]standing{}
		for _, p := range posts {
			copies[platform][markOf(p.Text)] = append(copies[platform][markOf(p.Text)], p)
		}
	}
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

// markOf is what tells a post's text from all others; empty where it is none of the storm's.
func markOf(text string) string {
	at := strings.Index(text, "storm post ")
	if end := at + len("storm post 000000."); at >= 0 && end <= len(text) {
		return text[at:end]
	}
	return ""
}

// unknown looks at a draft of which nobody was told.
func (r *reckoning) unknown(ctx context.Context, p *posted, copies map[string]map[string][]standing) error {
	var n int
	if err := r.looks.QueryRow(ctx, `SELECT COUNT(*) FROM posts WHERE caption LIKE ?`, p.mark+"%").Scan(&n); err != nil {
		return err
	}
	if n > 1 || n > 0 && p.certain {
		r.complainf("doubled", "%s, of which nobody was told, is there %d times", p.mark, n)
	}
	for platform, of := range copies {
		if len(of[p.mark]) > 0 {
			r.complainf("sent", "%s holds %s, which nobody published", platform, p.mark)
		}
	}
	return nil
}

// mayFail tells whether the weather, or the post's own text, can bring about an error code of an account.
func (p *posted) mayFail(code string) bool {
	switch code {
	case "rejected_content":
		return p.bad
	case "rate_limited":
		return p.busy
	}
	return slices.Contains([]string{"network_error", "account_needs_reauth", "preflight_blocked"}, code)
}

// post holds one post against its fate.
func (r *reckoning) post(p *posted, now shown, copies map[string]map[string][]standing) {
	if !strings.HasPrefix(now.Caption, p.mark) {
		r.complainf("changed", "%s says %q", p.mark, now.Caption)
	}
	sent := now.Status != "draft"
	switch {
	case p.fate == drafted && sent:
		r.complainf("sent", "%s is %s, and nobody published it", p.mark, now.Status)
	case (p.fate == scheduled || p.fate == handed) && !sent:
		r.complainf("lost", "%s was %s and is a draft", p.mark, p.fate)
	}
	if len(now.Accounts) != len(p.targets) {
		r.complainf("lost", "%s goes to %d accounts, not %d", p.mark, len(now.Accounts), len(p.targets))
	}
	for _, a := range now.Accounts {
		there := copies[a.Platform][p.mark]
		n := len(there)
		switch {
		case n > 1:
			r.complainf("doubled", "%s stands %d times on %s (%s %s)%s%s", p.mark, n, a.Platform, a.State, a.ErrorCode,
				r.story(p.id, a.ID), r.wire.story(p.mark, there))
		case a.State == "published" && n == 0:
			r.complainf("lost", "%s is said to stand on %s and does not%s", p.mark, a.Platform, r.story(p.id, a.ID))
		case n == 1 && a.State != "published" && a.State != "unconfirmed":
			r.complainf("untold", "%s stands on %s and is said to be %s %s%s", p.mark, a.Platform, a.State, a.ErrorCode,
				r.story(p.id, a.ID))
		case a.State == "failed" && !p.mayFail(a.ErrorCode):
			r.complainf("wrong", "%s failed on %s with %s", p.mark, a.Platform, a.ErrorCode)
		case a.State == "published" && p.bad:
			r.complainf("wrong", "%s was refused by %s and is said to be published", p.mark, a.Platform)
		}
		r.book.answered("outcome "+a.Platform, strings.TrimSpace(a.State+" "+a.ErrorCode), 0, 0)
	}
}

// story is what was tried of a post's account, a line for each attempt.
func (r *reckoning) story(post string, account int64) string {
	lines, err := db.All(context.Background(), r.looks, func(rows *sql.Rows, line *string) error {
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

// strangers finds what the networks hold of nobody's.
func (r *reckoning) strangers(context.Context) error {
	held, err := r.held()
	if err != nil {
		return err
	}
	for platform, there := range held {
		for _, one := range there {
			mark := markOf(one.Text)
			if mark == "" {
				if strings.Contains(one.Text, "storm") {
					r.complainf("sent", "%s holds %q", platform, one.Text)
				}
				continue
			}
			p := r.book.posts[mark]
			if p == nil || !slices.Contains(platforms(p), platform) {
				r.complainf("sent", "%s holds %s, which was not meant for it", platform, mark)
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

// events looks for the event of each write, and for events of writes that nobody was told of.
func (r *reckoning) events(ctx context.Context) error {
	there := map[string]int{}
	type row struct{ kind, subject string }
	rows, err := db.All(ctx, r.looks, func(rows *sql.Rows, e *row) error {
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
		if p.fate == unclear {
			delete(there, "post.handed_over "+p.id)
			delete(there, "post.cancelled "+p.id)
		}
		retried["post.handed_over "+p.id] = p.retried
	}
	for what, n := range r.book.writes {
		// A retry that found nothing to send again leaves none.
		if got := there[what]; got < n || got > n+retried[what] {
			r.complainf("event", "%d events %s of %d writes", got, what, n)
		}
		delete(there, what)
	}
	for _, p := range r.book.paid {
		delete(there, begins[p.tool]+" "+p.job) // one that charged nothing may have begun a job or been given one that was there
	}
	for what, n := range there {
		kind, subject, _ := strings.Cut(what, " ")
		if slices.Contains([]string{
			"post.scheduled", "post.cancelled", "post.handed_over", "post.changed", "uploads.opened", "hashtag.search", "media.download",
		}, kind) && n > retried[what] {
			r.complainf("event", "%d events %s of %s of no write", n, kind, subject)
		}
	}
	return nil
}

// charge is a reservation as it stands.
type charge struct {
	key, amount, charged   int64
	idem, tool, state, job string
	ended                  string // the job's state
}

// charges looks for the charge of each paid call, and for charges of none.
func (r *reckoning) charges(ctx context.Context) error {
	rows, err := db.All(ctx, r.looks, func(rows *sql.Rows, c *charge) error {
		return rows.Scan(&c.key, &c.amount, &c.charged, &c.idem, &c.tool, &c.state, &c.job, &c.ended)
	}, `SELECT r.key_id, r.amount, r.charged, r.idempotency_key, r.operation, r.state, COALESCE(j.id, ''),
		COALESCE(j.state, '') FROM reservations r
		LEFT JOIN jobs j ON j.reservation_id = r.id`)
	if err != nil {
		return err
	}
	there := map[string]*charge{}
	for _, c := range rows {
		name := fmt.Sprint(c.key, " ", c.idem)
		if there[name] != nil {
			r.complainf("charge", "%s with the key %s has two charges", c.tool, c.idem)
		}
		there[name] = &c
	}
	once := map[string]int64{}
	spent := map[*crew]int64{}
	for _, p := range r.book.paid {
		name := fmt.Sprint(p.key.id, " ", p.idem)
		c := there[name]
		delete(there, name)
		r.charged(p, c)
		if c == nil {
			continue
		}
		spent[p.team] += c.charged
		if p.subject != "" && c.charged > 0 {
			if once[fmt.Sprint(p.team.ID, p.subject)]++; once[fmt.Sprint(p.team.ID, p.subject)] == 2 {
				r.complainf("charge", "the team %s has paid twice for %s", p.team.Name, p.subject)
			}
		}
	}
	for _, c := range there {
		r.complainf("charge", "%s with the key %s is charged %d of %d, and was not accepted", c.tool, c.idem, c.charged, c.amount)
	}
	return r.wallets(ctx, spent)
}

// charged holds one charge against its call.
func (r *reckoning) charged(p *paid, c *charge) {
	switch {
	case c == nil && p.charged > 0:
		r.complainf("charge", "%s was told to cost %d and cost nothing", p.tool, p.charged)
	case c == nil:
	case c.amount != p.charged:
		r.complainf("charge", "%s was told to cost %d and %d were set aside", p.tool, p.charged, c.amount)
	case c.state != "settled":
		r.complainf("stuck", "%s has %d credits set aside", p.tool, c.amount)
	case c.ended == "failed" && c.charged != 0:
		r.complainf("charge", "%s failed and is charged %d", p.tool, c.charged)
	case c.ended == "succeeded" && c.charged != c.amount:
		r.complainf("charge", "%s succeeded and is charged %d of %d", p.tool, c.charged, c.amount)
	}
}

// wallets holds each team's credits against what it was granted and what it has spent.
func (r *reckoning) wallets(ctx context.Context, spent map[*crew]int64) error {
	for _, c := range r.teams {
		var available int64
		if err := r.looks.QueryRow(ctx, `SELECT available FROM wallets WHERE team_id = ?`, c.ID).Scan(&available); err != nil {
			return err
		}
		if available != c.granted-spent[c] {
			r.complainf("charge", "the team %s has %d credits, not %d - %d", c.Name, available, c.granted, spent[c])
		}
	}
	return nil
}

// limits goes through the ledger: at no instant was more set aside and spent in a day than the day allows.
func (r *reckoning) limits(ctx context.Context) error {
	type move struct {
		team, key, amount, charged, at int64
		kind                           string
	}
	moves, err := db.All(ctx, r.looks, func(rows *sql.Rows, m *move) error {
		return rows.Scan(&m.team, &m.kind, &m.key, &m.amount, &m.charged, &m.at)
	},
		`SELECT t.team_id, t.kind, r.key_id, r.amount, r.charged, r.created_at FROM ledger_transfers t
		JOIN reservations r ON r.id = t.reservation_id ORDER BY t.id`)
	if err != nil {
		return err
	}
	ofTeam, ofKey := map[string]int64{}, map[string]int64{}
	limits, keyLimits := map[int64]int64{}, map[int64]int64{}
	for _, c := range r.teams {
		limits[c.ID] = c.limit
		for _, k := range c.keys {
			keyLimits[k.id] = k.limit
		}
	}
	for _, m := range moves {
		counts := m.amount
		if m.kind == "settle" {
			counts = m.charged - m.amount
		}
		day := db.Time(m.at).In(zone()).Format(time.DateOnly)
		team, key := fmt.Sprint(m.team, day), fmt.Sprint(m.key, day)
		ofTeam[team], ofKey[key] = ofTeam[team]+counts, ofKey[key]+counts
		if limit := limits[m.team]; limit >= 0 && ofTeam[team] > limit {
			r.complainf("limit", "the team %d has spent %d of the %d credits of its day", m.team, ofTeam[team], limit)
		}
		if limit := keyLimits[m.key]; limit >= 0 && ofKey[key] > limit {
			r.complainf("limit", "the key %d has spent %d of the %d credits of its day", m.key, ofKey[key], limit)
		}
	}
	return nil
}

// freeCalls holds what was accepted against what the day allows. What a node that was killed had taken is lost, so that
// it may be less.
func (r *reckoning) freeCalls(context.Context) error {
	for _, c := range r.teams {
		used := r.book.free[c]
		for _, p := range r.book.paid {
			if p.team == c && p.charged == 0 {
				used++
			}
		}
		if most := int(c.freeCalls) * r.days(); c.freeCalls > 0 && used > most {
			r.complainf("limit", "the team %s has made %d free calls of %d", c.Name, used, most)
		}
	}
	return nil
}

// lists looks whether each hashtag list is there once.
func (r *reckoning) lists(ctx context.Context) error {
	for _, l := range r.book.lists {
		var n int
		if err := r.looks.QueryRow(ctx, `SELECT COUNT(*) FROM hashtag_lists WHERE team_id = ? AND name = ?`, l.team.ID,
			l.name).Scan(&n); err != nil {
			return err
		}
		switch {
		case n > 1:
			r.complainf("doubled", "%s was made %d times", l.name, n)
		case n == 0 && l.told:
			r.complainf("lost", "%s is not there", l.name)
		case n == 1 && !l.told && l.once:
			r.complainf("untold", "%s is there and was refused", l.name)
		}
	}
	return nil
}

// files looks at each file that arrived, byte by byte.
func (r *reckoning) files(ctx context.Context) error {
	store, err := blob.Open(ctx, r.blobs, blob.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	for _, f := range r.book.sent {
		var key string
		var there []byte
		err := r.looks.QueryRow(ctx, `SELECT blob, sha256 FROM media WHERE id = ? AND team_id = ?`, f.media, f.team.ID).Scan(&key, &there)
		if err != nil {
			r.complainf("lost", "the file %s of %d bytes, item %d: %v", f.digest, f.bytes, f.media, err)
			continue
		}
		if got, err := digestOf(ctx, store, key); err != nil || got != f.digest || hex.EncodeToString(there) != f.digest {
			r.complainf("bytes", "the item %d has not the bytes that were sent: %v", f.media, err)
		}
	}
	var double int
	err = r.looks.QueryRow(ctx,
		`SELECT COUNT(*) FROM (SELECT team_id, sha256 FROM media GROUP BY team_id, sha256 HAVING COUNT(*) > 1) d`).Scan(&double)
	if double > 0 {
		r.complainf("doubled", "%d files are in a library twice", double)
	}
	return err
}

func digestOf(ctx context.Context, store blob.Store, key string) (string, error) {
	body, err := store.Open(ctx, key)
	if err != nil {
		return "", err
	}
	defer body.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// keys looks whether each key is there once, works, and works no more once it is revoked.
func (r *reckoning) keys(ctx context.Context) error {
	for _, k := range r.book.keys {
		var n, live int
		err := r.looks.QueryRow(ctx,
			`SELECT COUNT(*), COALESCE(SUM(CASE WHEN revoked_at = 0 THEN 1 ELSE 0 END), 0) FROM api_keys
		WHERE team_id = ? AND name = ?`, k.team.ID, k.name).Scan(&n, &live)
		switch {
		case err != nil:
			return err
		case n > 1:
			r.complainf("doubled", "%s was made %d times", k.name, n)
		case n == 0 && k.value != "":
			r.complainf("lost", "%s is not there", k.name)
		case k.revoked && live > 0:
			r.complainf("lost", "%s was revoked and is not", k.name)
		}
		if err := r.keyEvents(ctx, k, n, n-live); err != nil {
			return err
		}
		if k.value == "" {
			continue
		}
		a := r.reader.do(call{tool: "get_identity", method: http.MethodGet, path: "/me", key: &apiKey{value: k.value}})
		if works := a.ok(); works == k.revoked {
			r.complainf("wrong", "%s, revoked: %v, is answered %s", k.name, k.revoked, a.outcome())
		}
	}
	return nil
}

// keyEvents looks for the events of a key: that it was made, and that it was revoked.
func (r *reckoning) keyEvents(ctx context.Context, k *madeKey, made, revoked int) error {
	var told, ended int
	err := r.looks.QueryRow(ctx,
		`SELECT COALESCE(SUM(CASE WHEN e.kind = 'key.created' THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN e.kind =
		'key.revoked' THEN 1 ELSE 0 END), 0)
		FROM events e JOIN api_keys k ON CAST(k.id AS TEXT) = e.subject AND k.team_id = e.team_id
		WHERE k.team_id = ? AND k.name = ? AND e.kind IN ('key.created', 'key.revoked')`, k.team.ID, k.name).Scan(&told, &ended)
	if err == nil && (told != made || ended != revoked) {
		r.complainf("event", "%s was made %d times and revoked %d times, and its events tell of %d and %d", k.name,
			made, revoked, told, ended)
	}
	return err
}

func (r *reckoning) stuck(context.Context) error {
	if left, _ := r.underWay(); left != "" {
		r.complainf("stuck", "%s", left)
	}
	return nil
}

// audit asks the operator's own command.
func (r *reckoning) audit(ctx context.Context) error {
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

// readyAgain is how long a program may take to do all of its work again. What it has missed it learns of within half a
// minute.
const readyAgain = 40 * time.Second

// programs looks whether all of them are well, and what they said.
func (r *reckoning) programs(context.Context) error {
	for _, n := range r.nodes {
		began, why := time.Now(), n.unready()
		for ; why != "" && time.Since(began) < readyAgain; why = n.unready() {
			<-time.After(lookEvery)
		}
		if why != "" {
			r.complainf("died", "%s is not ready: %s", n.name, why)
		}
		if said := n.panicked(); said != "" {
			r.complainf("died", "%s said: %s", n.name, said)
		}
	}
	return nil
}
