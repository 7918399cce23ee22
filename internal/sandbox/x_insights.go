package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	xMostLooked = 100
	xPrivateFor = 30 * 24 * time.Hour // for which the private fields of a post are available
)

// xPrivate are the fields of a post that only its author may read.
var xPrivate = []string{"non_public_metrics", "organic_metrics"}

// xPage selects a page of a list.
type xPage struct {
	from        time.Time
	limit, skip int
}

// readPage parses the page of a list. It refuses unknown parameters.
func (n *xAPI) readPage(form url.Values) (xPage, error) {
	for name := range form {
		if !slices.Contains([]string{
			"start_time", "max_results", "post.fields", "pagination_token", "exclude", "expansions", "media.fields",
		}, name) {
			return xPage{}, n.says.unread
		}
	}
	page := xPage{from: time.Unix(0, 0), limit: 10}
	var err error
	if text := form.Get("start_time"); text != "" {
		page.from, err = time.Parse(time.RFC3339, text)
	}
	if text := form.Get("max_results"); text != "" && err == nil {
		page.limit, err = strconv.Atoi(text)
	}
	if text := form.Get("pagination_token"); text != "" && err == nil {
		page.skip, err = strconv.Atoi(text)
	}
	if err != nil || page.limit < 5 || page.limit > 100 || page.skip < 0 {
		return xPage{}, n.says.unread
	}
	return page, nil
}

// lookup returns posts by their ids.
func (n *xAPI) lookup(r *http.Request) (any, error) {
	ids := strings.Split(r.Form.Get("ids"), ",")
	if r.Form.Get("ids") == "" || len(ids) > xMostLooked {
		return nil, n.says.unread
	}
	data, refused := []map[string]any{}, []map[string]any{}
	err := n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.caller(r, t)
		if err != nil {
			return err
		}
		for _, id := range ids {
			p, found, err := t.post(r.Context(), xName, id)
			if err != nil {
				return err
			}
			if found {
				view, errs := n.lookedUp(a, p, r.Form.Get("post.fields"))
				data, refused = append(data, view), append(refused, errs...)
			}
		}
		return nil
	})
	answer := map[string]any{}
	for name, list := range map[string][]map[string]any{"data": data, "errors": refused} {
		if len(list) > 0 {
			answer[name] = list
		}
	}
	return answer, err
}

// lookedUp returns a post without the fields that the caller may not read, and the errors for those.
func (n *xAPI) lookedUp(a account, p post, fields string) (map[string]any, []map[string]any) {
	view, errs := n.told(p, fields), n.keptBack(a, p, fields)
	if len(errs) > 0 {
		for _, field := range xPrivate {
			delete(view, field)
		}
	}
	return view, errs
}

// keptBack returns the errors for the fields that the caller may not read, or no longer.
func (n *xAPI) keptBack(a account, p post, fields string) []map[string]any {
	if p.account == a.id && n.now().Sub(p.at) <= xPrivateFor {
		return nil
	}
	var errs []map[string]any
	for field := range strings.SplitSeq(fields, ",") {
		if slices.Contains(xPrivate, field) {
			errs = append(errs, map[string]any{
				"type": "https://api.x.com/2/problems/not-authorized-for-field", "title": "Field Authorization Error",
				"parameter": "ids",
				"detail": "Sorry, you are not authorized to access '" + field + "' on the Post with ids : [" + p.id +
					"].", "section": "data",
				"field": field, "resource_type": "post", "resource_id": p.id, "value": p.id,
			})
		}
	}
	return errs
}

// told returns a post with the requested fields.
func (n *xAPI) told(p post, fields string) map[string]any {
	body := xShownOf(p)
	view := map[string]any{"id": p.id, "text": body.Text, "edit_history_post_ids": []string{p.id}}
	counts := count(p, n.now())
	for field := range strings.SplitSeq(fields, ",") {
		switch {
		case field == "created_at":
			view[field] = p.at.Truncate(time.Second).Format(xTime)
		case field == "entities" && len(body.Links) > 0:
			view[field] = map[string]any{"urls": body.Links}
		case field == "attachments" && len(body.Keys) > 0:
			view[field] = map[string]any{"media_keys": body.Keys}
		case field == "public_metrics":
			view[field] = map[string]int64{
				"impression_count": counts.views, "like_count": counts.likes, "reply_count": counts.comments,
				"bookmark_count": counts.saves,
				"repost_count":   counts.shares - counts.shares/4, "quote_count": counts.shares / 4,
			}
		case slices.Contains(xPrivate, field):
			view[field] = map[string]int64{
				"impression_count": counts.views, "url_link_clicks": counts.clicks,
				"user_profile_clicks": counts.clicks / 3,
			}
		}
	}
	return view
}

func xShownOf(p post) xShown {
	var body xShown
	_ = json.Unmarshal(p.body, &body) // number wrote it
	return body
}

// xIncluded returns the media of posts if the request expands them.
func xIncluded(form url.Values, posts []post) map[string]any {
	if form.Get("expansions") != "attachments.media_keys" {
		return nil
	}
	media := []map[string]string{}
	for _, p := range posts {
		for i, key := range xShownOf(p).Keys {
			kind := "photo"
			switch {
			case p.media[i].Video():
				kind = "video"
			case p.media[i].Type == "image/gif":
				kind = "animated_gif"
			}
			media = append(media, map[string]string{"media_key": key, "type": kind})
		}
	}
	if len(media) == 0 {
		return nil
	}
	return map[string]any{"media": media}
}

// figures adds an account's counts if they are requested.
func (n *xAPI) figures(view map[string]any, fields, id string, posts int) {
	if slices.Contains(strings.Split(fields, ","), "public_metrics") {
		view["public_metrics"] = map[string]int64{
			"followers_count": followers(xName, id, n.now()), "following_count": 100, "post_count": int64(posts),
			"listed_count": 0,
		}
	}
}
