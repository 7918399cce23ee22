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
