package network

// InstagramOptions holds a post's choices for Instagram. Names and values are the same as in Instagram's API, if it has
// them.
type InstagramOptions struct {
	Format        string             `json:"format,omitempty" enum:"post|story|reel" title:"InstagramFormat"`
	ShareToFeed   *bool              `json:"share_to_feed,omitempty"`
	CoverMediaID  int64              `json:"cover_media_id,omitempty" min:"1"`
	Collaborators []string           `json:"collaborators,omitempty" maxItems:"3" pattern:"^[A-Za-z0-9._]{1,30}$"`
	UserTags      []InstagramUserTag `json:"user_tags,omitempty" maxItems:"20"`
	LocationID    string             `json:"location_id,omitempty" pattern:"^[0-9]{1,40}$"`
	AudioName     string             `json:"audio_name,omitempty" maxLength:"100"`

	GraduationStrategy string `json:"graduation_strategy,omitempty" enum:"MANUAL|SS_PERFORMANCE" title:"InstagramGraduationStrategy"`
}

// InstagramUserTag tags an account in an image or a video.
type InstagramUserTag struct {
	Username string   `json:"username" pattern:"^[A-Za-z0-9._]{1,30}$"`
	X        *float64 `json:"x,omitempty" min:"0" max:"1"`
	Y        *float64 `json:"y,omitempty" min:"0" max:"1"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (InstagramOptions) Descriptions() map[string]string {
	return map[string]string{
		"format":         "post (the default), story (one image or video, without a text) or reel (one video).",
		"share_to_feed":  "Whether the feed shows a reel too. true if omitted.",
		"cover_media_id": "Image of the library that covers a reel, in place of a frame of the video.",
		"collaborators":  "Usernames that are invited as coauthors of a post or reel.",
		"user_tags":      "Accounts tagged in the first image, or in the video.",
		"location_id":    "ID of a Facebook Page with a location. Not for stories.",
		"audio_name":     "Name of a reel's own sound.",
		"graduation_strategy": "Publishes a trial reel, shown first to people who do not follow the account: MANUAL, or " +
			"SS_PERFORMANCE to show it to followers if it performs well.",
	}
}

// Descriptions returns descriptions of the fields for the API schema.
func (InstagramUserTag) Descriptions() map[string]string {
	return map[string]string{
		"x": "Position in the image, from 0 (left) to 1; 0.5 if omitted. Not for reels.",
		"y": "Position in the image, from 0 (top) to 1; 0.5 if omitted. Not for reels.",
	}
}
