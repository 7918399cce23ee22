package shell

import (
	"slices"

	"pressroom.example/pressroom/internal/locale"
)

// Choice is a value of a select field, with words for people.
type Choice struct {
	Value string
	Name  locale.Key
}

// TikTokAudiences are the audiences of TikTok.
var TikTokAudiences = []Choice{
	{"PUBLIC_TO_EVERYONE", "Everyone"},
	{"MUTUAL_FOLLOW_FRIENDS", "Friends: followers whom the account follows"},
	{"FOLLOWER_OF_CREATOR", "Followers"},
	{"SELF_ONLY", "Only the account itself"},
}

// IsOffered reports whether one of the choices has the value.
func IsOffered(all []Choice, value string) bool {
	return slices.ContainsFunc(all, func(c Choice) bool { return c.Value == value })
}
