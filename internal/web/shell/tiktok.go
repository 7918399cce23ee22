package shell

import (
	"slices"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
)

// Choice is an option of a form field: its value and its label.
type Choice struct {
	Value string
	Name  locale.Key
}

// TikTokAudiences are the options for who can see a post on TikTok.
var TikTokAudiences = func() []Choice {
	var out []Choice
	for _, a := range network.TikTokAudiences {
		out = append(out, Choice{a.Level, locale.Key(a.Name)})
	}
	return out
}()

// IsOffered reports whether one of the choices has the value.
func IsOffered(choices []Choice, value string) bool {
	return slices.ContainsFunc(choices, func(c Choice) bool { return c.Value == value })
}
