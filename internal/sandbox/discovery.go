package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// discoveryCalls returns the calls for the public data of other accounts and of hashtags, which only Facebook Login can
// make.
func (n *instagram) discoveryCalls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /facebook/{version}/{id}":                              n.look,
		"GET /facebook/{version}/ig_hashtag_search":                 n.searchHashtag,
		"GET /facebook/{version}/{id}/top_media":                    n.topMedia,
		"GET /facebook/{version}/{id}/recent_media":                 n.recentMedia,
		"GET /facebook/{version}/{user}/recently_searched_hashtags": n.searchedHashtags,
	}
}

// Missing, private and personal accounts are refused alike.
var (
	errNotProfessional = &graphError{
		status: http.StatusBadRequest, code: 110, subcode: 2207013, message: "Invalid user id",
	}
	errGraphSyntax = &graphError{
		status: http.StatusBadRequest, code: 2500, message: "Syntax error in the list of fields",
	}
	errNoScope = &graphError{
		status: http.StatusForbidden, code: 10, message: "(#10) Application does not have permission for this action",
	}
)

// look returns the object with an id. For a request of business discovery it returns another account.
func (n *instagram) look(r *http.Request) (any, error) {
	if strings.Contains(r.Form.Get("fields"), "business_discovery") {
		return n.discover(r)
	}
	if name, err := n.hashtagOf(r); err != nil || name != "" {
		return pick(r, map[string]any{"id": r.PathValue("id"), "name": name}), err
	}
	return n.describe(r)
}

// operator returns the account of the request's token. It refuses a token without the scopes or of an account that is
// not the named one.
func (n *instagram) operator(r *http.Request, named string, scopes ...string) (account, error) {
	var caller account
	err := n.caller(r, func(t tx, a account, token oauthToken) error {
		caller = a
		allowed, err := t.scopes(r.Context(), n.platform, token.session)
		for _, scope := range scopes {
			if err == nil && !slices.Contains(allowed, scope) {
				err = errNoScope
			}
		}
		if err == nil && named != a.id {
			err = errNoObject
		}
		return err
	})
	return caller, err
}

// discover returns the caller's account, and with it another one.
func (n *instagram) discover(r *http.Request) (any, error) {
	fields, good := parseGraphFields(r.Form.Get("fields"))
	if !good {
		return nil, errGraphSyntax
	}
	a, err := n.operator(r, r.PathValue("id"), "instagram_basic", "instagram_manage_insights")
	if err != nil {
		return nil, err
	}
	return told(fields, map[string]any{
		"id": a.id, "username": a.handle, "name": a.displayName,
		"business_discovery": graphEdge(func(f graphField) (any, error) { return n.discovered(r, f) }),
	})
}

// discovered returns the profile that a field names.
func (n *instagram) discovered(r *http.Request, f graphField) (any, error) {
	name := strings.ToLower(f.args["username"])
	switch err := f.only("username"); {
	case err != nil:
		return nil, err
	case name == "":
		return nil, invalidParameter("(#100) The parameter username is required")
	case !usernamePattern.MatchString(name) || strings.HasPrefix(name, markMissing) || strings.HasPrefix(name, markPrivate):
		return nil, errNotProfessional
	case strings.HasPrefix(name, markFailing):
		return nil, errGraphInternal
	case strings.HasPrefix(name, markSlowly) && !n.pause(slowWorld):
		return nil, errLost
	}
	d := discovery{profile: worldProfile{platform: instagramName, name: name}, day: dayOf(n.now()), base: n.baseURL(r)}
	return told(f.fields, d.fields())
}

// discovery is a profile on a day.
type discovery struct {
	profile worldProfile
	day     int64
	base    string
}

func (d discovery) fields() map[string]any {
	posts := d.profile.posts(d.day)
	face := d.profile.face(d.day, len(posts))
	return map[string]any{
		"id": instagramID("world " + d.profile.name), "username": d.profile.name, "name": face.displayName,
		"biography": face.biography, "website": orNothing(face.website),
		"profile_picture_url": d.base + "/vendor/files/" + d.profile.avatar().path(),
		"followers_count":     face.followers, "follows_count": face.follows, "media_count": face.posts,
		"media": graphEdge(d.media),
	}
}

// orNothing returns nil, which is left out of an answer, for an empty text.
func orNothing(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// media returns a page of the profile's posts.
func (d discovery) media(f graphField) (any, error) {
	if err := f.only("limit", "after"); err != nil {
		return nil, err
	}
	limit, err := graphLimit(f.args["limit"], mostPage)
	if err != nil {
		return nil, err
	}
	cursor := vendorCursor{Type: "media", Day: d.day}
	if text := f.args["after"]; text != "" {
		var going bool
		if cursor, going = cursor.resumed(text); !going {
			return nil, invalidParameter("(#100) Invalid cursor")
		}
	}
	posts := d.profile.posts(cursor.Day)
	from, to, next := cursor.page(len(posts), limit)
	d.day = cursor.Day
	data := []map[string]any{}
	for _, post := range posts[from:to] {
		one, err := told(orID(f.fields), d.post(post))
		if err != nil {
			return nil, err
		}
		data = append(data, one)
	}
	answer := map[string]any{"data": data}
	if next != "" {
		answer["paging"] = map[string]any{"cursors": map[string]string{"after": next}}
	}
	return answer, nil
}

// post returns one of the profile's posts without what its owner hides.
func (d discovery) post(post worldPost) map[string]any {
	all, h := graphMedia(d.base, post, startOf(d.day)), d.profile.habits()
	all["username"], all["owner"] = d.profile.name, map[string]any{"id": instagramID("world " + d.profile.name)}
	all["media_product_type"], all["view_count"] = "FEED", nil
	if post.views > 0 {
		all["view_count"] = post.figures(startOf(d.day)).views
	}
	if post.format == worldReel {
		all["media_product_type"] = "REELS"
		if h.keepsReels {
			all["media_url"] = nil
		}
	}
	if h.hidesLikes {
		all["like_count"] = nil
	}
	return all
}

// orID returns the field id if there are no fields.
func orID(fields []graphField) []graphField {
	if len(fields) == 0 {
		return []graphField{{name: "id"}}
	}
	return fields
}

// graphLimit parses a limit.
func graphLimit(text string, most int) (int, error) {
	if text == "" {
		return usualPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > most {
		return 0, invalidParameter("(#100) limit has to be a number from 1 to " + strconv.Itoa(most))
	}
	return limit, nil
}

// graphTypes are the API's names of formats.
var graphTypes = map[string]string{
	worldImage: "IMAGE", worldVideo: "VIDEO", worldReel: "VIDEO", worldCarousel: "CAROUSEL_ALBUM",
}

// graphMedia returns a post as the public sees it at a time in Unix seconds.
func graphMedia(base string, post worldPost, now int64) map[string]any {
	figures := post.figures(now)
	all := map[string]any{
		"id": post.id, "caption": orNothing(post.caption), "media_type": graphTypes[post.format],
		"media_url": base + "/vendor/files/" + post.file.path(), "permalink": postURL(base, instagramName, "", post),
		"timestamp":  time.Unix(post.at, 0).UTC().Format(graphTime),
		"like_count": figures.likes, "comments_count": figures.comments,
		"children": nil,
	}
	if post.format == worldCarousel {
		all["children"] = graphEdge(func(f graphField) (any, error) { return graphChildren(base, post, f) })
	}
	return all
}

// graphChildren returns the parts of a carousel.
func graphChildren(base string, post worldPost, f graphField) (any, error) {
	data := []map[string]any{}
	for _, file := range post.children() {
		id := file.id
		if id == post.id { // the part has an id of its own
			id = worldID(dice("part", post.id))
		}
		one, err := told(orID(f.fields), map[string]any{
			"id": id, "media_type": "IMAGE", "media_url": base + "/vendor/files/" + file.path(),
			"permalink": postURL(base, instagramName, "", post),
			"timestamp": time.Unix(post.at, 0).UTC().Format(graphTime),
		})
		if err != nil {
			return nil, err
		}
		data = append(data, one)
	}
	return map[string]any{"data": data}, nil
}
