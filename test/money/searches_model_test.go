package money

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/core/plan"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// keyword is the kind of what hashtags are searched for by: each is one hashtag here, so that the source is asked once.
const keyword = "keyword"

// window is for how long a keyword is paid for.
var window = time.Duration(plan.Default().Limits.HashtagDays) * 24 * time.Hour

var keywords = []wish{
	{platform: "instagram", subject: "quay"}, {platform: "instagram", subject: "pier"},
	{platform: "tiktok", subject: "quay"}, {platform: "instagram", subject: "missingquay"},
}

// anySearch draws a search. Each team of each round has its own keywords, which may be written in several ways.
func (m *pressMachine) anySearch(d *desk) wish {
	w := pick(m.t, keywords, "keyword")
	w.verb, w.kind, w.idem, w.brief = "search", keyword, m.anyIdem(), rapid.Bool().Draw(m.t, "brief")
	w.subject = fmt.Sprintf("%s_%d_%d", w.subject, d.id, m.round)
	w.text = pick(m.t, []string{w.subject, "#" + w.subject, strings.ToUpper(w.subject), " " + w.subject + " "}, "written")
	return w
}

func (m *pressMachine) search() {
	d := m.anyDesk()
	m.send(d, m.anyKey(d), m.anySearch(d))
}

func (m *pressMachine) anyHunt(d *desk) *paper {
	found := slices.DeleteFunc(slices.Clone(d.hunts), func(p *paper) bool { return p.paidUntil.IsZero() })
	if len(found) == 0 {
		return nil
	}
	return rapid.SampledFrom(found).Draw(m.t, "paid")
}

// hunt returns a keyword that the team has searched for.
func (d *desk) hunt(w wish) *paper {
	for _, p := range d.hunts {
		if p.platform == w.platform && p.subject == w.subject {
			return p
		}
	}
	return nil
}

// judgeSearch returns what a search costs: nothing while the keyword is searched for, or paid for.
func (d *desk) judgeSearch(now time.Time, w wish) verdict {
	p := d.hunt(w)
	switch {
	case p != nil && p.job.running():
		return verdict{job: p.job, book: func(answer, *toll) *paper { return p }}
	case p != nil && now.Before(p.paidUntil):
		return verdict{book: func(a answer, _ *toll) *paper {
			d.errands = append(d.errands, &errand{desk: d, id: a.job(), purpose: nothing, paper: p, finished: true, state: "succeeded"})
			return p
		}}
	case p == nil:
		p = &paper{kind: keyword, platform: w.platform, subject: w.subject}
	}
	return d.takePlace(verdict{price: prices.HashtagSearch, book: func(a answer, c *toll) *paper {
		if d.hunt(w) == nil {
			d.hunts = append(d.hunts, p)
		}
		d.begin(p, a.job(), searching, c)
		return p
	}})
}

// endSearch ends a search as the source ended it: it is charged where the source told of the hashtag, and pays then for
// the window.
func (d *desk) endSearch(now time.Time, e *errand, how ending) {
	p := e.paper
	switch how {
	case served:
		e.state, p.paidUntil, p.known = "succeeded", now.Add(window), true
		d.settle(now, e.toll, e.toll.amount)
		return
	case missing:
		e.state, e.code = "failed", "nothing_found"
	default:
		e.state, e.code = "failed", "source_unavailable"
		if p.known { // what is stored is given
			e.state = "partially_succeeded"
		}
	}
	d.settle(now, e.toll, 0)
}

// takes is for what cannot be told beforehand: whether anything stood beside a hashtag that is gone now. It is not
// charged either way.
func (e *errand) takes(job jobOfReport) {
	if e.paper.known && e.code == "nothing_found" && job.State == "succeeded" {
		e.state, e.code = job.State, ""
	}
}

// want has nobody measure in the background what a search has asked for: the source would be asked at a time that no
// model knows.
func (m *pressMachine) want(e *errand) {
	if e.purpose == searching {
		m.exec(m.t, `UPDATE hashtags SET due_at = 0 WHERE due_at > 0`)
	}
}

// checkHunts holds against the model which keywords are searched for, and until when they are paid for.
func (m *pressMachine) checkHunts(d *desk) {
	now := m.clock.Now()
	got := must.Get(db.All(context.Background(), m.db, func(rows *sql.Rows, line *string) error {
		var platform, text, job string
		var until int64
		err := rows.Scan(&platform, &text, &job, &until)
		*line = fmt.Sprint(platform, " ", text, " ", job, " ", max(until, db.Micros(now)))
		return err
	}, `SELECT platform, keyword, job_id, paid_until FROM hashtag_searches
		WHERE team_id = ? AND (job_id <> '' OR paid_until > ?)`, d.id, db.Micros(now)))(m.t)
	var want []string
	for _, p := range d.hunts {
		job := ""
		if p.job.running() {
			job = p.job.id
		}
		if job != "" || now.Before(p.paidUntil) {
			want = append(want, fmt.Sprint(p.platform, " ", p.subject, " ", job, " ", max(db.Micros(p.paidUntil), db.Micros(now))))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.t.Fatalf("the searches are\n%s\ninstead of\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
