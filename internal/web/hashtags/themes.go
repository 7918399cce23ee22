package hashtags

import (
	"slices"

	"pressroom.example/pressroom/internal/locale"
)

// theme is a group of ready-made lists on the page of all lists.
type theme struct {
	Name  locale.Key
	ids   []int64 // IDs of the lists; IDs of ready-made lists never change
	Cards []card
}

// themes lists the themes in the order of the page.
var themes = []theme{
	{Name: "Food and home", ids: []int64{1, 2, 9, 10, 11, 12}},
	{Name: "Style and health", ids: []int64{4, 5, 8, 27, 31}},
	{Name: "Arts and entertainment", ids: []int64{6, 13, 14, 15, 16, 17, 18}},
	{Name: "Travel and nature", ids: []int64{3, 7, 28, 29}},
	{Name: "Business and education", ids: []int64{19, 20, 21, 30, 32}},
	{Name: "Occasions", ids: []int64{22, 23, 24, 25, 26}},
	{Name: "Formats", ids: []int64{33, 34}},
}

// groupByTheme groups ready-made lists by theme. Lists without a theme come last, in a group named others. That group
// has no name if there are no other groups.
func groupByTheme(cards []card, others locale.Key) []theme {
	var out []theme
	rest := theme{Name: others}
	for _, t := range themes {
		for _, c := range cards {
			if slices.Contains(t.ids, c.ID) {
				t.Cards = append(t.Cards, c)
			}
		}
		if len(t.Cards) > 0 {
			out = append(out, t)
		}
	}
	for _, c := range cards {
		if !slices.ContainsFunc(themes, func(t theme) bool { return slices.Contains(t.ids, c.ID) }) {
			rest.Cards = append(rest.Cards, c)
		}
	}
	if len(rest.Cards) > 0 {
		if len(out) == 0 {
			rest.Name = "" // the heading above the lists is enough
		}
		out = append(out, rest)
	}
	return out
}

// ReadyThemes returns the ready-made lists in the team's language by theme.
func (v allView) ReadyThemes() []theme { return groupByTheme(v.Ready, "In your language") }

// ForeignThemes returns the ready-made lists in other languages by theme.
func (v allView) ForeignThemes() []theme { return groupByTheme(v.OtherLanguage, "More languages") }
