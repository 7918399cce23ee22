package network

// TikTokOptions holds a post's choices for TikTok. Names and values are the same as in TikTok's Content Posting API, if
// it has them.
type TikTokOptions struct {
	Mode string `json:"mode,omitempty" enum:"direct|inbox" title:"TikTokMode"`

	PrivacyLevel string `json:"privacy_level,omitempty" enum:"PUBLIC_TO_EVERYONE|MUTUAL_FOLLOW_FRIENDS|FOLLOWER_OF_CREATOR|SELF_ONLY" title:"TikTokPrivacyLevel"`

	AllowComment        bool `json:"allow_comment,omitempty" jsonschema:"Whether people may comment."`
	AllowDuet           bool `json:"allow_duet,omitempty"`
	AllowStitch         bool `json:"allow_stitch,omitempty" jsonschema:"Whether people may stitch. Videos only."`
	BrandOrganic        bool `json:"brand_organic_toggle,omitempty"`
	BrandContent        bool `json:"brand_content_toggle,omitempty"`
	IsAIGC              bool `json:"is_aigc,omitempty" jsonschema:"Labels a video as AI-generated."`
	MusicUsageConfirmed bool `json:"music_usage_confirmed,omitempty"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (TikTokOptions) Descriptions() map[string]string {
	return map[string]string{
		"mode": "direct (the default) publishes. inbox sends the media to the account's inbox in the TikTok " +
			"app, where a person completes the post; the other choices are then made there.",
		"privacy_level":        "Who can see the post. Required for direct posts. The account must offer it.",
		"allow_duet":           "Whether people may make duets. Videos only.",
		"brand_organic_toggle": "Discloses that the post promotes the account's own brand.",
		"brand_content_toggle": "Discloses that the post is a paid partnership (branded content).",
		"music_usage_confirmed": "Whether the person agreed to TikTok's Music Usage Confirmation. Required for direct posts. " +
			"Set it only after they did.",
	}
}

// TikTokAudience is a TikTok privacy level and its display name.
type TikTokAudience struct{ Level, Name string }

// TikTokAudiences lists all TikTok audiences.
var TikTokAudiences = []TikTokAudience{
	{"PUBLIC_TO_EVERYONE", "Everyone"}, {"MUTUAL_FOLLOW_FRIENDS", "Friends"}, {"FOLLOWER_OF_CREATOR", "Followers"},
	{"SELF_ONLY", "Only me"},
}

// The modes of a post on TikTok. An empty mode means direct.
const (
	TikTokDirect = "direct"
	TikTokInbox  = "inbox"
)
