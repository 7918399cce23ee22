package network

// InstagramOptions uses the names and values of Instagram's API where they exist.
type InstagramOptions struct {
	Format string `json:"format,omitempty" enum:"post|story|reel" title:"InstagramFormat"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (InstagramOptions) Descriptions() map[string]string {
	return map[string]string{
		"format": "post (the default), story (one image or video, without a text) or reel (one video).",
	}
}
