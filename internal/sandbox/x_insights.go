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
	xPrivateFor = 30 * 24 * time.Hour // for which the network tells of a post what only its author may know
)

// xPrivate are the fields of a post that only its author may know.
var xPrivate = []string{"non_public_metrics", "organic_metrics"}

// xPage is what a request asks for of a list.
type xPage struct {
	from        time.Time
	limit, skip int
}

// readPage is from when on, how many, and which page. A parameter that is not known is refused.
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

// lookup tells of posts by their ids.
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
				told, kept := n.lookedUp(a, p, r.Form.Get("post.fields"))
				data, refused = append(data, told), append(refused, kept...)
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

// lookedUp is a post without what the caller may not know, and the errors for that.
func (n *xAPI) lookedUp(a account, p post, fields string) (map[string]any, []map[string]any) {
	told, kept := n.told(p, fields), n.keptBack(a, p, fields)
	if len(kept) > 0 {
		for _, field := range xPrivate {
			delete(told, field)
		}
	}
	return told, kept
}

// keptBack are the errors for the fields of a post that the caller may not know, or not any more.
func (n *xAPI) keptBack(a account, p post, fields string) []map[string]any {
	if p.account == a.id && n.now().Sub(p.at) <= xPrivateFor {
		return nil
	}
	var kept []map[string]any
	for field := range strings.SplitSeq(fields, ",") {
		if slices.Contains(xPrivate, field) {
			kept = append(kept, map[string]any{
				"type": "https://api.x.com/2/problems/not-authorized-for-field", "title": "Field Authorization Error",
				"parameter": "ids",
				"detail": "Sorry, you are not authorized to access '" + field + "' on the Post with ids : [" + p.id +
					"].", "section": "data",
				"field": field, "resource_type": "post", "resource_id": p.id, "value": p.id,
			})
		}
	}
	return kept
}

// told is a post with the fields that were asked for.
func (n *xAPI) told(p post, fields string) map[string]any {
	shown := xShownOf(p)
	told := map[string]any{"id": p.id, "text": shown.Text, "edit_history_post_ids": []string{p.id}}
	counted := count(p, n.now())
	for field := range strings.SplitSeq(fields, ",") {
		switch {
		case field == "created_at":
			told[field] = p.at.Truncate(time.Second).Format(xTime)
		case field == "entities" && len(shown.Links) > 0:
			told[field] = map[string]any{"urls": shown.Links}
		case field == "attachments" && len(shown.Keys) > 0:
			told[field] = map[string]any{"media_keys": shown.Keys}
		case field == "public_metrics":
			told[field] = map[string]int64{
				"impression_count": counted.views, "like_count": counted.likes, "reply_count": counted.comments,
				"bookmark_count": counted.saves,
				"repost_count":   counted.shares - counted.shares/4, "quote_count": counted.shares / 4,
			}
		case slices.Contains(xPrivate, field):
			told[field] = map[string]int64{
				"impression_count": counted.views, "url_link_clicks": counted.clicks,
				"user_profile_clicks": counted.clicks / 3,
			}
		}
	}
	return told
}

func xShownOf(p post) xShown {
	var shown xShown
	_ = json.Unmarshal(p.body, &shown) // it was written by number
	return shown
}

// xIncluded are the media of posts, where a request asks for them too.
func xIncluded(form url.Values, posts []post) map[string]any {
	if form.Get("expansions") != "attachments.media_keys" {
		return nil
	}
	media := []map[string]string{}
	for _, p := range posts {
		for i, key := range xShownOf(p).Keys {
			kind := "photo"
			switch {
			case p.media[i].film():
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

// figures adds to what is told of an account what was asked for of its figures.
func (n *xAPI) figures(told map[string]any, fields, id string, posts int) {
	if slices.Contains(strings.Split(fields, ","), "public_metrics") {
		told["public_metrics"] = map[string]int64{
			"followers_count": followers(xName, id, n.now()), "following_count": 100, "post_count": int64(posts),
			"listed_count": 0,
		}
	}
}
