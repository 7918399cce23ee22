package network

// LinkedInOptions uses the names and values of LinkedIn's API.
type LinkedInOptions struct {
	Visibility string `json:"visibility,omitempty" enum:"PUBLIC|CONNECTIONS" title:"LinkedInVisibility"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (LinkedInOptions) Descriptions() map[string]string {
	return map[string]string{
		"visibility": "Who can see the post: PUBLIC (the default) or CONNECTIONS, for the accounts of members only.",
	}
}
