package instagram

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// ownOptions returns only the options for Instagram.
func ownOptions(o network.Options) network.Options { return network.Options{Instagram: o.Instagram} }

// postOptions returns a post's options for Instagram, or the zero value if there are none.
func postOptions(o network.Options) network.InstagramOptions { return network.ValueOrZero(o.Instagram) }

func isVideo(m network.Media) bool { return m.Kind == network.Video }

// isReel reports whether a post with these media is a reel.
func isReel(o network.Options, media []network.Media) bool {
	return !o.IsStory(platform) && len(media) == 1 && isVideo(media[0])
}

// checkOptions returns a problem for each option that Instagram does not support for this post.
func checkOptions(c network.Content) []network.Problem {
	o, reel := postOptions(c.Options), isReel(c.Options, c.Media)
	var problems []network.Problem
	add := func(field string, isBlocking bool, message string) {
		problems = append(problems, network.OptionProblem(platform, field, network.CodeOptionUnsupported, isBlocking, message))
	}
	if o.Format == network.FormatReel && !reel {
		add("format", true,
			"A reel on Instagram is a single video. Choose another format (options.instagram.format), or post only a video.")
	}
	if o.GraduationStrategy != "" && !reel {
		add("graduation_strategy", true,
			"Only a reel on Instagram can be a trial (options.instagram.graduation_strategy). Post only a video, or clear it.")
	}
	if o.ShareToFeed != nil && !reel {
		add("share_to_feed", false,
			"Only reels on Instagram can be kept out of the feed (options.instagram.share_to_feed). The choice has no effect.")
	}
	if o.CoverMediaID != 0 && !reel {
		add("cover_media_id", false,
			"Only reels on Instagram have a cover (options.instagram.cover_media_id). The cover is not sent.")
	}
	if o.AudioName != "" && !reel {
		add("audio_name", false,
			"Only reels on Instagram have a named sound (options.instagram.audio_name). The name is not sent.")
	}
	return append(problems, checkPeople(c, o)...)
}

// checkPeople returns problems with the collaborators, the tags and the location.
func checkPeople(c network.Content, o network.InstagramOptions) []network.Problem {
	var problems []network.Problem
	add := func(field, message string) {
		problems = append(problems, network.OptionProblem(platform, field, network.CodeOptionUnsupported, false, message))
	}
	if c.Options.IsStory(platform) && len(o.Collaborators) > 0 {
		add("collaborators",
			"A story on Instagram has no collaborators (options.instagram.collaborators). They are not invited.")
	}
	if c.Options.IsStory(platform) && o.LocationID != "" {
		add("location_id", "A story on Instagram has no location (options.instagram.location_id). It is not sent.")
	}
	if len(o.UserTags) > 0 && len(c.Media) > 1 && slices.IndexFunc(c.Media, isImage) < 0 {
		add("user_tags", "Instagram does not tag people in several videos (options.instagram.user_tags). Add an image.")
	}
	return problems
}

func isImage(m network.Media) bool { return !isVideo(m) }

// coverImage returns the media ID of a reel's cover image, or 0 if the cover is a frame of the video.
func coverImage(o network.Options, media []network.Media) int64 {
	if !isReel(o, media) {
		return 0
	}
	return postOptions(o).CoverMediaID
}

// optionParams returns the parameters that the options add to a post's container. cover is the URL of the cover image.
func optionParams(o network.Options, media []network.Media, cover string) url.Values {
	opts, params := postOptions(o), url.Values{}
	if isReel(o, media) {
		setReelParams(params, opts, cover)
	}
	if !o.IsStory(platform) {
		if len(opts.Collaborators) > 0 {
			params.Set("collaborators", encodeJSON(opts.Collaborators))
		}
		if opts.LocationID != "" {
			params.Set("location_id", opts.LocationID)
		}
	}
	if len(opts.UserTags) > 0 && len(media) == 1 {
		params.Set("user_tags", encodeJSON(prepareTags(opts.UserTags, isImage(media[0]))))
	}
	return params
}

func setReelParams(params url.Values, o network.InstagramOptions, cover string) {
	if o.ShareToFeed != nil {
		params.Set("share_to_feed", strconv.FormatBool(*o.ShareToFeed))
	}
	if cover != "" {
		params.Set("cover_url", cover)
	}
	if name := strings.TrimSpace(o.AudioName); name != "" {
		params.Set("audio_name", name)
	}
	if o.GraduationStrategy != "" {
		params.Set("trial_params", encodeJSON(map[string]string{"graduation_strategy": o.GraduationStrategy}))
	}
}

// itemParams returns the parameters that the options add to the container for one of several media items. Only the
// first image has tags.
func itemParams(o network.Options, media []network.Media, item int) url.Values {
	opts := postOptions(o)
	if len(opts.UserTags) == 0 || slices.IndexFunc(media, isImage) != item {
		return nil
	}
	return url.Values{"user_tags": {encodeJSON(prepareTags(opts.UserTags, true))}}
}

// prepareTags returns a copy of userTags. For an image, it keeps the positions and sets missing coordinates to 0.5. For
// a video, it removes the positions.
func prepareTags(userTags []network.InstagramUserTag, withPositions bool) []network.InstagramUserTag {
	out := slices.Clone(userTags)
	for i := range out {
		if !withPositions {
			out[i].X, out[i].Y = nil, nil
			continue
		}
		for _, side := range []**float64{&out[i].X, &out[i].Y} {
			if *side == nil {
				*side = new(0.5)
			}
		}
	}
	return out
}

// encodeJSON encodes a parameter as JSON, which the API expects for lists and objects.
func encodeJSON(value any) string {
	encoded, _ := json.Marshal(value) //nolint:errchkjson // strings and finite numbers
	return string(encoded)
}

var containerOptions = graph.OptionHooks{
	FilterOptions: ownOptions, Check: checkOptions, Cover: coverImage, Params: optionParams, ItemParams: itemParams,
}
