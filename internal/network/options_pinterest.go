package network

// PinterestOptions holds a post's choices for Pinterest. Names are the same as in Pinterest's API, if it has them.
type PinterestOptions struct {
	BoardSection string `json:"board_section,omitempty" maxLength:"180"`
	Title        string `json:"title,omitempty" maxLength:"100"`
	Link         string `json:"link,omitempty" maxLength:"2048" pattern:"^https?://"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (PinterestOptions) Descriptions() map[string]string {
	return map[string]string{
		"board_section": "Name or ID of a section of the board. It must exist. Outside of sections if omitted.",
		"title":         "The post's title or the text's first line if omitted.",
		"link":          "Address to which the pin links. The first link of the text if omitted.",
	}
}
