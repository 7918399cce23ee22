package network

// Options are a post's choices for specific networks. Only networks with such choices have a field.
type Options struct {
	TikTok  *TikTokOptions  `json:"tiktok,omitempty"`
	YouTube *YouTubeOptions `json:"youtube,omitempty" jsonschema:"Choices for YouTube accounts."`
}

// Descriptions returns descriptions of the fields for the API schema.
func (Options) Descriptions() map[string]string {
	return map[string]string{
		"tiktok": "Choices for TikTok accounts. TikTok requires that a person makes them for each post.",
	}
}

// IsZero reports whether nothing was chosen.
func (o Options) IsZero() bool { return o == Options{} }

// TikTokOptions uses the names and values of TikTok's Content Posting API where they exist.
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

// TikTokAudience is a privacy level of TikTok and its display name.
type TikTokAudience struct{ Level, Name string }

// TikTokAudiences are all audiences of TikTok.
var TikTokAudiences = []TikTokAudience{
	{"PUBLIC_TO_EVERYONE", "Everyone"}, {"MUTUAL_FOLLOW_FRIENDS", "Friends"}, {"FOLLOWER_OF_CREATOR", "Followers"},
	{"SELF_ONLY", "Only me"},
}

// The modes of a post on TikTok. An empty mode means direct.
const (
	TikTokDirect = "direct"
	TikTokInbox  = "inbox"
)

// YouTubeOptions uses the names and values of YouTube's Data API, in snake case.
type YouTubeOptions struct {
	Title                   string `json:"title,omitempty" maxLength:"100" pattern:"^[^<>]*$"`
	PrivacyStatus           string `json:"privacy_status,omitempty" enum:"public|unlisted|private" title:"YouTubePrivacyStatus"`
	SelfDeclaredMadeForKids *bool  `json:"self_declared_made_for_kids,omitempty"`
	ContainsSyntheticMedia  bool   `json:"contains_synthetic_media,omitempty"`
	CategoryID              string `json:"category_id,omitempty" pattern:"^[0-9]{1,4}$"`
	PlaylistID              string `json:"playlist_id,omitempty" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$"`
	ThumbnailMediaID        int64  `json:"thumbnail_media_id,omitempty" min:"1"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (YouTubeOptions) Descriptions() map[string]string {
	return map[string]string{
		"title":                       "Title of the video, without < and >. The first line of the text if omitted.",
		"privacy_status":              "Who can see the video; the operator's setting if omitted.",
		"self_declared_made_for_kids": "Whether the video is made for children. Undeclared if omitted, unless the operator sets it.",
		"contains_synthetic_media":    "Labels altered or synthetic content.",
		"category_id":                 "ID of a YouTube video category, such as 22.",
		"playlist_id": "Playlist of the channel to which the video is added after it is published, such as PL followed by 32 " +
			"characters.",
		"thumbnail_media_id": "Image of the library that becomes the video's thumbnail after it is published.",
	}
}
