package instagram

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/sandbox/world"
)

// discoveryCalls returns the calls that read public data of other accounts and of hashtags. They require a token from
// Facebook Login.
func (n *Network) discoveryCalls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /facebook/{version}/{id}":                              n.lookUp,
		"GET /facebook/{version}/ig_hashtag_search":                 n.searchHashtag,
		"GET /facebook/{version}/{id}/top_media":                    n.topMedia,
		"GET /facebook/{version}/{id}/recent_media":                 n.recentMedia,
		"GET /facebook/{version}/{user}/recently_searched_hashtags": n.listSearches,
	}
}

var (
	// errNotProfessional is the error for missing, private and personal accounts.
	errNotProfessional = &graph.Error{
		Status: http.StatusBadRequest, Code: 110, Subcode: 2207013, Message: "Invalid user id",
	}
	errSyntax = &graph.Error{
		Status: http.StatusBadRequest, Code: 2500, Message: "Syntax error in the list of fields",
	}
	errNoScope = &graph.Error{
		Status: http.StatusForbidden, Code: 10, Message: "(#10) Application does not have permission for this action",
	}
)

// lookUp responds with the object whose ID is in the path. If the request has the field business_discovery, lookUp
// responds with the result of business discovery instead.
func (n *Network) lookUp(r *http.Request) (any, error) {
	if strings.Contains(r.Form.Get("fields"), "business_discovery") {
		return n.discover(r)
	}
	if name, err := n.findHashtag(r); err != nil || name != "" {
		return graph.PickFields(r, map[string]any{"id": r.PathValue("id"), "name": name}), err
	}
	return n.describe(r)
}

// authorizeOperator returns the account of the request's token. The account must have the given ID, and the token must
// have all given scopes.
func (n *Network) authorizeOperator(r *http.Request, id string, scopes ...string) (store.Account, error) {
	var caller store.Account
	err := n.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
		caller = a
		granted, err := t.Scopes(r.Context(), n.Platform, token.Session)
		for _, scope := range scopes {
			if err == nil && !slices.Contains(granted, scope) {
				err = errNoScope
			}
		}
		if err == nil && id != a.ID {
			err = graph.ErrNoObject
		}
		return err
	})
	return caller, err
}

// discover responds with the caller's account. Its field business_discovery contains the account that this field
// selects.
func (n *Network) discover(r *http.Request) (any, error) {
	fields, ok := parseFields(r.Form.Get("fields"))
	if !ok {
		return nil, errSyntax
	}
	a, err := n.authorizeOperator(r, r.PathValue("id"), "instagram_basic", "instagram_manage_insights")
	if err != nil {
		return nil, err
	}
	return selectFields(fields, map[string]any{
		"id": a.ID, "username": a.Handle, "name": a.DisplayName,
		"business_discovery": edge(func(f field) (any, error) { return n.discoveredProfile(r, f) }),
	})
}

// discoveredProfile returns the profile that a field selects with the modifier username.
func (n *Network) discoveredProfile(r *http.Request, f field) (any, error) {
	name := strings.ToLower(f.args["username"])
	switch err := f.checkModifiers("username"); {
	case err != nil:
		return nil, err
	case name == "":
		return nil, graph.InvalidParameter("(#100) The parameter username is required")
	case !world.UsernamePattern.MatchString(name) || strings.HasPrefix(name, world.PrefixMissing) ||
		strings.HasPrefix(name, world.PrefixPrivate):
		return nil, errNotProfessional
	case strings.HasPrefix(name, world.PrefixFailing):
		return nil, graph.ErrInternal
	case strings.HasPrefix(name, world.PrefixSlow) && !n.Pause(world.SlowDelay):
		return nil, marker.ErrLost
	}
	d := discovery{profile: world.Profile{Platform: Name, Name: name}, day: world.DayOf(n.Now()), base: n.BaseURL(r)}
	return selectFields(f.fields, d.fields())
}

// discovery is the state of a profile on a day.
type discovery struct {
	profile world.Profile
	day     int64
	base    string
}

func (d discovery) fields() map[string]any {
	posts := d.profile.Posts(d.day)
	details := d.profile.Details(d.day, len(posts))
	return map[string]any{
		"id": AccountID("world " + d.profile.Name), "username": d.profile.Name, "name": details.DisplayName,
		"biography": details.Biography, "website": omitEmpty(details.Website),
		"profile_picture_url": d.base + "/vendor/files/" + d.profile.Avatar().Path(),
		"followers_count":     details.Followers, "follows_count": details.Follows, "media_count": details.Posts,
		"media": edge(d.media),
	}
}

// omitEmpty returns text, or nil if text is empty, so that selectFields omits the field.
func omitEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// media returns a page of the profile's posts.
func (d discovery) media(f field) (any, error) {
	if err := f.checkModifiers("limit", "after"); err != nil {
		return nil, err
	}
	limit, err := parseLimit(f.args["limit"], graph.MaxPageSize)
	if err != nil {
		return nil, err
	}
	cursor := world.Cursor{Type: "media", Day: d.day}
	if text := f.args["after"]; text != "" {
		var valid bool
		if cursor, valid = cursor.Resume(text); !valid {
			return nil, graph.InvalidParameter("(#100) Invalid cursor")
		}
	}
	posts := d.profile.Posts(cursor.Day)
	from, to, next := cursor.Page(len(posts), limit)
	d.day = cursor.Day
	data := []map[string]any{}
	for _, post := range posts[from:to] {
		view, err := selectFields(defaultID(f.fields), d.postView(post))
		if err != nil {
			return nil, err
		}
		data = append(data, view)
	}
	response := map[string]any{"data": data}
	if next != "" {
		response["paging"] = map[string]any{"cursors": map[string]string{"after": next}}
	}
	return response, nil
}

// postView returns a post of the profile in the API's format, without the fields that the profile's owner hides.
func (d discovery) postView(post world.Post) map[string]any {
	view, traits := mediaView(d.base, post, world.StartOf(d.day)), d.profile.Traits()
	view["username"], view["owner"] = d.profile.Name, map[string]any{"id": AccountID("world " + d.profile.Name)}
	view["media_product_type"], view["view_count"] = "FEED", nil
	if post.Views > 0 {
		view["view_count"] = post.Metrics(world.StartOf(d.day)).Views
	}
	if post.Format == world.FormatReel {
		view["media_product_type"] = "REELS"
		if traits.HidesReels {
			view["media_url"] = nil
		}
	}
	if traits.HidesLikes {
		view["like_count"] = nil
	}
	return view
}

// defaultID returns fields, or the field "id" if fields is empty.
func defaultID(fields []field) []field {
	if len(fields) == 0 {
		return []field{{name: "id"}}
	}
	return fields
}

func parseLimit(text string, maxLimit int) (int, error) {
	if text == "" {
		return graph.DefaultPageSize, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, graph.InvalidParameter("(#100) limit must be a number from 1 to " + strconv.Itoa(maxLimit))
	}
	return limit, nil
}

// mediaTypes maps each format to the API's media type.
var mediaTypes = map[string]string{
	world.FormatImage: "IMAGE", world.FormatVideo: "VIDEO", world.FormatReel: "VIDEO",
	world.FormatCarousel: "CAROUSEL_ALBUM",
}

// mediaView returns the public fields of a post at the time now, in Unix seconds.
func mediaView(base string, post world.Post, now int64) map[string]any {
	metrics := post.Metrics(now)
	view := map[string]any{
		"id": post.ID, "caption": omitEmpty(post.Caption), "media_type": mediaTypes[post.Format],
		"media_url": base + "/vendor/files/" + post.File.Path(), "permalink": world.PostURL(base, Name, "", post),
		"timestamp":  time.Unix(post.At, 0).UTC().Format(graph.TimeFormat),
		"like_count": metrics.Likes, "comments_count": metrics.Comments,
		"children": nil,
	}
	if post.Format == world.FormatCarousel {
		view["children"] = edge(func(f field) (any, error) { return childrenView(base, post, f) })
	}
	return view
}

// childrenView returns the items of a carousel.
func childrenView(base string, post world.Post, f field) (any, error) {
	data := []map[string]any{}
	for _, file := range post.Children() {
		id := file.ID
		if id == post.ID { // items have their own IDs
			id = world.RandomID(world.NewRand("part", post.ID))
		}
		view, err := selectFields(defaultID(f.fields), map[string]any{
			"id": id, "media_type": "IMAGE", "media_url": base + "/vendor/files/" + file.Path(),
			"permalink": world.PostURL(base, Name, "", post),
			"timestamp": time.Unix(post.At, 0).UTC().Format(graph.TimeFormat),
		})
		if err != nil {
			return nil, err
		}
		data = append(data, view)
	}
	return map[string]any{"data": data}, nil
}
