package instagram

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"

	"pressroom.example/pressroom/internal/sandbox/graph"
)

const (
	maxCollaborators = 3
	maxTags          = 20
)

var (
	usernamePattern   = regexp.MustCompile(`^[A-Za-z0-9._]{1,30}$`)
	locationIDPattern = regexp.MustCompile(`^[0-9]{1,40}$`)
)

// userTag is an account that is tagged in an image or a video.
type userTag struct {
	Username string   `json:"username"`
	X        *float64 `json:"x"`
	Y        *float64 `json:"y"`
}

// checkOptions returns an error if a parameter that this kind of container uses is invalid. Instagram ignores all other
// parameters.
func (n *Network) checkOptions(r *http.Request, c *graph.Container) error {
	if err := checkPeople(r, c); err != nil {
		return err
	}
	if id := r.Form.Get("location_id"); id != "" && !locationIDPattern.MatchString(id) {
		return graph.InvalidParameter("INSTAGRAM_PLATFORM_API__INVALID_LOCATION_ID")
	}
	if c.MediaType != "REELS" {
		return nil
	}
	if share := r.Form.Get("share_to_feed"); share != "" && share != "true" && share != "false" {
		return graph.InvalidParameter("(#100) Param share_to_feed must be a boolean")
	}
	if trial := r.Form.Get("trial_params"); trial != "" {
		var params struct {
			Strategy string `json:"graduation_strategy"`
		}
		if json.Unmarshal([]byte(trial), &params) != nil || !slices.Contains([]string{"MANUAL", "SS_PERFORMANCE"}, params.Strategy) {
			return graph.InvalidParameter("(#100) Param trial_params has no known graduation_strategy")
		}
	}
	if cover := r.Form.Get("cover_url"); cover != "" {
		_, err := n.FetchImage(r.Context(), c.Account, cover, storyLimits)
		return err
	}
	return nil
}

// checkPeople checks the collaborators and the tagged accounts. A tag in an image must have a position.
func checkPeople(r *http.Request, c *graph.Container) error {
	if text := r.Form.Get("collaborators"); text != "" && c.MediaType != graph.MediaTypeStories {
		var names []string
		if json.Unmarshal([]byte(text), &names) != nil || len(names) > maxCollaborators ||
			slices.ContainsFunc(names, func(name string) bool { return !usernamePattern.MatchString(name) }) {
			return graph.InvalidParameter("(#100) Param collaborators must be an array of at most 3 usernames")
		}
	}
	text := r.Form.Get("user_tags")
	if text == "" {
		return nil
	}
	var tags []userTag
	if json.Unmarshal([]byte(text), &tags) != nil || len(tags) > maxTags {
		return graph.InvalidParameter("(#100) Param user_tags must be an array of at most 20 tags")
	}
	if slices.ContainsFunc(tags, func(tag userTag) bool { return !tag.isValid(c.MediaType == "IMAGE") }) {
		return graph.InvalidParameter("(#100) Param user_tags must have usernames, and positions from 0.0 to 1.0 in images")
	}
	return nil
}

// isValid reports whether the tag has a username and, if needsPosition is true, a position within the image.
func (t userTag) isValid(needsPosition bool) bool {
	for _, at := range []*float64{t.X, t.Y} {
		if at == nil && needsPosition || at != nil && (*at < 0 || *at > 1) {
			return false
		}
	}
	return usernamePattern.MatchString(t.Username)
}

// optionNames are the request parameters that are stored with a post.
var optionNames = []string{
	"share_to_feed", "cover_url", "collaborators", "user_tags", "location_id", "audio_name", "trial_params",
}

// keepOptions returns the request parameters that are stored with the post.
func keepOptions(r *http.Request) map[string]string {
	options := map[string]string{}
	for _, name := range optionNames {
		if value := r.Form.Get(name); value != "" {
			options[name] = value
		}
	}
	return options
}
