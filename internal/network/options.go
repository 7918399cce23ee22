package network

// Options holds a post's choices for individual networks. A field is nil if the post has no choices for its network.
type Options struct {
	Bluesky   *BlueskyOptions   `json:"bluesky,omitempty" jsonschema:"Choices for Bluesky accounts."`
	Facebook  *FacebookOptions  `json:"facebook,omitempty" jsonschema:"Choices for Facebook Pages."`
	Instagram *InstagramOptions `json:"instagram,omitempty" jsonschema:"Choices for Instagram accounts."`
	LinkedIn  *LinkedInOptions  `json:"linkedin,omitempty" jsonschema:"Choices for LinkedIn accounts."`
	Pinterest *PinterestOptions `json:"pinterest,omitempty" jsonschema:"Choices for Pinterest boards."`
	Threads   *ThreadsOptions   `json:"threads,omitempty" jsonschema:"Choices for Threads accounts."`
	TikTok    *TikTokOptions    `json:"tiktok,omitempty"`
	X         *XOptions         `json:"x,omitempty" jsonschema:"Choices for X accounts."`
	YouTube   *YouTubeOptions   `json:"youtube,omitempty" jsonschema:"Choices for YouTube accounts."`
}

// Descriptions returns descriptions of the fields for the API schema.
func (Options) Descriptions() map[string]string {
	return map[string]string{
		"tiktok": "Choices for TikTok accounts. TikTok requires that a person makes them for each post.",
	}
}

// Codes of the problems with a post's options.
const (
	CodeOptionMissing     = "option_missing"
	CodeOptionUnsupported = "option_not_supported"
)

// OptionProblem returns a problem with a network's option, such as "poll" of "x".
func OptionProblem(platform, option, code string, isBlocking bool, message string) Problem {
	return Problem{Code: code, Blocking: isBlocking, Field: "options." + platform + "." + option, Message: message}
}

// ValueOrZero returns a post's choices for a network, or the zero value if it has none.
func ValueOrZero[T any](choices *T) T {
	if choices == nil {
		return *new(T)
	}
	return *choices
}

// IsZero reports whether nothing was chosen.
func (o Options) IsZero() bool { return o == Options{} }

// ForReplies returns the options that apply not only to the post, but also to the further parts of a thread.
func (o Options) ForReplies() Options {
	if o.Bluesky != nil {
		o.Bluesky = &BlueskyOptions{Labels: o.Bluesky.Labels, Languages: o.Bluesky.Languages}
	}
	if o.X != nil {
		o.X = &XOptions{MadeWithAI: o.X.MadeWithAI, PaidPartnership: o.X.PaidPartnership}
	}
	if o.Threads != nil {
		o.Threads = &ThreadsOptions{IsSpoilerMedia: o.Threads.IsSpoilerMedia}
	}
	return o
}
