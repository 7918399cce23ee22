package x

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxLookup        = 100
	privateFieldsAge = 30 * 24 * time.Hour // maximum age of a post whose private fields are available
)

// privateFields are the fields of a post that only its author may read.
var privateFields = []string{"non_public_metrics", "organic_metrics"}

// listPage selects a page of a list.
type listPage struct {
	since         time.Time
	limit, offset int
}

// parsePage parses the parameters of a list. It returns an error for unknown parameters.
func (n *Network) parsePage(form url.Values) (listPage, error) {
	for name := range form {
		if !slices.Contains([]string{
			"start_time", "max_results", "post.fields", "pagination_token", "exclude", "expansions", "media.fields",
		}, name) {
			return listPage{}, n.Errors.Unreadable
		}
	}
	page := listPage{since: time.Unix(0, 0), limit: 10}
	var err error
	if text := form.Get("start_time"); text != "" {
		page.since, err = time.Parse(time.RFC3339, text)
	}
	if text := form.Get("max_results"); text != "" && err == nil {
		page.limit, err = strconv.Atoi(text)
	}
	if text := form.Get("pagination_token"); text != "" && err == nil {
		page.offset, err = strconv.Atoi(text)
	}
	if err != nil || page.limit < 5 || page.limit > 100 || page.offset < 0 {
		return listPage{}, n.Errors.Unreadable
	}
	return page, nil
}

// lookupPosts returns the posts with the requested IDs.
func (n *Network) lookupPosts(r *http.Request) (any, error) {
	ids := strings.Split(r.Form.Get("ids"), ",")
	if r.Form.Get("ids") == "" || len(ids) > maxLookup {
		return nil, n.Errors.Unreadable
	}
	data, fieldErrors := []map[string]any{}, []map[string]any{}
	err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		for _, id := range ids {
			p, found, err := t.Post(r.Context(), Name, id)
			if err != nil {
				return err
			}
			if found {
				view, errs := n.lookupView(a, p, r.Form.Get("post.fields"))
				data, fieldErrors = append(data, view), append(fieldErrors, errs...)
			}
		}
		return nil
	})
	response := map[string]any{}
	for name, list := range map[string][]map[string]any{"data": data, "errors": fieldErrors} {
		if len(list) > 0 {
			response[name] = list
		}
	}
	return response, err
}

// lookupView returns a post without the fields that the caller may not read, and an error for each omitted field.
func (n *Network) lookupView(a store.Account, p store.Post, fields string) (map[string]any, []map[string]any) {
	view, errs := n.postView(p, fields), n.fieldErrors(a, p, fields)
	if len(errs) > 0 {
		for _, field := range privateFields {
			delete(view, field)
		}
	}
	return view, errs
}

// fieldErrors returns an error for each requested private field, unless the caller published the post within
// privateFieldsAge.
func (n *Network) fieldErrors(a store.Account, p store.Post, fields string) []map[string]any {
	if p.Account == a.ID && n.Now().Sub(p.At) <= privateFieldsAge {
		return nil
	}
	var errs []map[string]any
	for field := range strings.SplitSeq(fields, ",") {
		if slices.Contains(privateFields, field) {
			errs = append(errs, map[string]any{
				"type": "https://api.x.com/2/problems/not-authorized-for-field", "title": "Field Authorization Error",
				"parameter": "ids",
				"detail": "Sorry, you are not authorized to access '" + field + "' on the Post with ids : [" + p.ID +
					"].", "section": "data",
				"field": field, "resource_type": "post", "resource_id": p.ID, "value": p.ID,
			})
		}
	}
	return errs
}

// postView returns a post with the requested fields.
func (n *Network) postView(p store.Post, fields string) map[string]any {
	body := parseBody(p)
	view := map[string]any{"id": p.ID, "text": body.Text, "edit_history_post_ids": []string{p.ID}}
	counts := insights.Count(p, n.Now())
	for field := range strings.SplitSeq(fields, ",") {
		switch {
		case field == "created_at":
			view[field] = p.At.Truncate(time.Second).Format(timeFormat)
		case field == "entities" && len(body.Links) > 0:
			view[field] = map[string]any{"urls": body.Links}
		case field == "attachments" && len(body.Keys) > 0:
			view[field] = map[string]any{"media_keys": body.Keys}
		case field == "reply_settings":
			view[field] = cmp.Or(body.ReplySettings, "everyone")
		case field == "referenced_posts" && body.Quote != "":
			view[field] = []map[string]string{{"type": "quoted", "id": body.Quote}}
		case field == "conversation_id":
			view[field] = cmp.Or(body.Root, p.ID)
		case field == "public_metrics":
			view[field] = map[string]int64{
				"impression_count": counts.Views, "like_count": counts.Likes, "reply_count": counts.Comments,
				"bookmark_count": counts.Saves,
				"repost_count":   counts.Shares - counts.Shares/4, "quote_count": counts.Shares / 4,
			}
		case slices.Contains(privateFields, field):
			view[field] = map[string]int64{
				"impression_count": counts.Views, "url_link_clicks": counts.Clicks,
				"user_profile_clicks": counts.Clicks / 3,
			}
		}
	}
	return view
}

func parseBody(p store.Post) postBody {
	var body postBody
	_ = json.Unmarshal(p.Body, &body) // newPost encoded it
	return body
}

// includes returns the media of the posts if the request asks for it with the parameter expansions.
func includes(form url.Values, posts []store.Post) map[string]any {
	if form.Get("expansions") != "attachments.media_keys" {
		return nil
	}
	media := []map[string]string{}
	for _, p := range posts {
		for i, key := range parseBody(p).Keys {
			kind := "photo"
			switch {
			case p.Media[i].IsVideo():
				kind = "video"
			case p.Media[i].Type == "image/gif":
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

// addMetrics adds an account's metrics to its view if the request asks for them.
func (n *Network) addMetrics(view map[string]any, fields, id string, posts int) {
	if slices.Contains(strings.Split(fields, ","), "public_metrics") {
		view["public_metrics"] = map[string]int64{
			"followers_count": insights.Followers(Name, id, n.Now()), "following_count": 100,
			"post_count":   int64(posts),
			"listed_count": 0,
		}
	}
}
