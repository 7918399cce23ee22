package network

// FacebookOptions holds a post's choices for Facebook. Names and values are the same as in Facebook's API, if it has
// them.
type FacebookOptions struct {
	Format string `json:"format,omitempty" enum:"post|story|reel" title:"FacebookFormat"`
	Link   string `json:"link,omitempty" maxLength:"2000" pattern:"^https?://"`
	Place  string `json:"place,omitempty" pattern:"^[0-9]{1,40}$"`
	Title  string `json:"title,omitempty" maxLength:"255"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (FacebookOptions) Descriptions() map[string]string {
	return map[string]string{
		"format": "post (the default), story (one image or video, without a text) or reel (one vertical video).",
		"link":   "Link that a post without media shows with a preview. The first link of the text if omitted.",
		"place":  "ID of a Page with a location. Not for stories and horizontal videos.",
		"title":  "Of a video or reel. The post's title if omitted.",
	}
}
