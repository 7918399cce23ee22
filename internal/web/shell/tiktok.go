package shell

import (
	"slices"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
)

// Choice is a value of a select field, with words for people.
type Choice struct {
	Value string
	Name  locale.Key
}

// TikTokAudiences are the audiences of TikTok.
var TikTokAudiences = func() []Choice {
	var out []Choice
	for _, a := range network.TikTokAudiences {
		out = append(out, Choice{a.Level, locale.Key(a.Name)})
	}
	return out
}()

// IsOffered reports whether one of the choices has the value.
func IsOffered(all []Choice, value string) bool {
	return slices.ContainsFunc(all, func(c Choice) bool { return c.Value == value })
}
