package posts

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/web/shell"
)

// export sends the selected posts as a CSV file with one row per post. Its form is sent by GET, because an export does
// not change anything.
func (p *Handlers) export(w http.ResponseWriter, r *http.Request) {
	form := r.URL.Query()
	call, err := p.NewCall(r, "list_posts")
	if err == nil {
		err = call.Require(access.Read)
	}
	var ids []string
	if err == nil {
		ids, err = p.selectedIDs(r, form)
	}
	if err == nil && len(ids) == 0 {
		p.FlashText(r, p.Detail(r, errNoneSelected()))
		shell.Redirect(w, r, backTo(form))
		return
	}
	var rows [][]string
	if err == nil {
		rows, err = p.exportRows(r, ids)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	v := shell.VisitorOf(r.Context())
	out := shell.NewCSVWriter(w, "posts-"+p.DB.Now().In(v.Zone).Format(time.DateOnly)+".csv", "id", "status", "time",
		"accounts",
		"text", "links", "views", "likes", "comments", "shares", "engagement")
	for _, row := range rows {
		out.WriteRow(row...)
	}
	out.Flush()
}

func errNoneSelected() error {
	return apierr.Invalid(apierr.MissingArgument, "post", "Select at least one post.")
}

// exportRows returns one row per post. It omits posts that no longer exist.
func (p *Handlers) exportRows(r *http.Request, ids []string) ([][]string, error) {
	v := shell.VisitorOf(r.Context())
	sums, err := p.analytics.SumByPost(r.Context(), v.Team.ID, ids)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, id := range ids {
		one, err := p.posts.Load(r.Context(), v.Team.ID, id)
		if apierr.FromError(err).Code == apierr.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, exportRow(one, sums[id], v.Zone))
	}
	return rows, nil
}

func exportRow(one post.Record, sums analytics.PostSums, zone *time.Location) []string {
	at := one.PublishedAt
	if at.IsZero() {
		at = one.ScheduledAt
	}
	plannedTime := one.PlannedDay
	if !at.IsZero() {
		plannedTime = at.In(zone).Format(time.RFC3339)
	}
	var accounts, links []string
	for _, t := range one.Targets {
		accounts = append(accounts, t.Platform+":"+t.Username)
		if t.Permalink != "" {
			links = append(links, t.Permalink)
		}
	}
	row := []string{one.ID, string(one.Status), plannedTime, strings.Join(accounts, " "), one.Caption, strings.Join(links, " ")}
	for _, n := range []*int64{sums.Views, sums.Likes, sums.Comments, sums.Shares, sums.Engagement} {
		cell := ""
		if n != nil {
			cell = strconv.FormatInt(*n, 10)
		}
		row = append(row, cell)
	}
	return row
}

// backTo returns the path and filters of the list that a form was sent from.
func backTo(form url.Values) string {
	query, err := url.ParseQuery(form.Get("back"))
	if err != nil || len(query) == 0 {
		return "/posts"
	}
	return "/posts?" + query.Encode()
}
