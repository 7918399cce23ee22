package network

// YouTubeOptions holds a post's choices for YouTube. Values are the same as in YouTube's Data API. Names are the API's
// names in snake case.
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
		"title":                       "Without < and >. The post's title or the text's first line if omitted.",
		"privacy_status":              "Who can see the video; the operator's setting if omitted.",
		"self_declared_made_for_kids": "Whether the video is made for children. Undeclared if omitted, unless the operator sets it.",
		"contains_synthetic_media":    "Labels altered or synthetic content.",
		"category_id":                 "ID of a YouTube video category, such as 22.",
		"playlist_id": "Playlist of the channel to which the video is added after it is published, such as PL followed by 32 " +
			"characters.",
		"thumbnail_media_id": "Image of the library that becomes the video's thumbnail after it is published.",
	}
}
