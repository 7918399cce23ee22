package hashtags

import (
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

// look is a color or icon that the form offers.
type look struct {
	Value string
	Name  locale.Key
	Path  string // SVG path of an icon in a 24 × 24 box
}

// colors are the offered colors, readable on light and dark backgrounds.
var colors = []look{
	{Value: "#1f8a7d", Name: "Teal"}, {Value: "#2f7dc4", Name: "Blue"}, {Value: "#7a63c9", Name: "Violet"},
	{Value: "#c2528b", Name: "Pink"},
	{Value: "#cf4a3c", Name: "Red"}, {Value: "#c9752b", Name: "Orange"}, {Value: "#a38a1c", Name: "Ochre"},
	{Value: "#5b8f3a", Name: "Green"},
}

// icons are the offered icons with our own drawings, under the names used in the API.
var icons = []look{
	{"ri-hashtag", "Hashtag", "M9 3L7 21M17 3l-2 18M4 8.5h17M3 15.5h17"},
	{"ri-cup-line", "Cup", "M4 8h12v6a5 5 0 0 1-5 5H9a5 5 0 0 1-5-5zM16 10h2a2 2 0 0 1 0 5h-2M8 3v2M12 3v2"},
	{"ri-restaurant-line", "Food", "M6 3v6a2 2 0 0 0 4 0V3M8 11v10M17 3c-3 3-3 8 0 9v9"},
	{"ri-cake-line", "Cake", "M4 20v-7h16v7zM4 16c3 2 5-2 8 0s5-2 8 0M12 9v4M12 5v1"},
	{"ri-camera-line", "Camera", "M3 8h4l2-3h6l2 3h4v12H3zM12 17a3.5 3.5 0 1 0 0-7a3.5 3.5 0 0 0 0 7z"},
	{"ri-film-line", "Film", "M4 4h16v16H4zM8 4v16M16 4v16M4 9h4M4 15h4M16 9h4M16 15h4"},
	{"ri-music-2-line", "Music", "M9 18V5l10-2v13M9 18a3 3 0 1 1-6 0a3 3 0 0 1 6 0zM19 16a3 3 0 1 1-6 0a3 3 0 0 1 " +
		"6 0z"},
	{"ri-book-open-line", "Book", "M12 6v14M12 6c-2-2-6-2-9-1v14c3-1 7-1 9 1c2-2 6-2 9-1V5c-3-1-7-1-9 1z"},
	{"ri-heart-line", "Heart", "M12 20C5 15 3 12 3 8.5A4.5 4.5 0 0 1 12 7a4.5 4.5 0 0 1 9 1.5C21 12 19 15 12 20z"},
	{"ri-leaf-line", "Leaf", "M5 19C4 9 10 4 20 4c0 10-5 16-15 15zM5 19l8-8"},
	{"ri-plane-line", "Travel", "M3 12l18-8-6 17-3-7z"},
	{"ri-home-4-line", "Home|icon", "M4 11l8-7 8 7v9H4zM10 20v-6h4v6"},
	{"ri-store-2-line", "Shop", "M4 10v10h16V10M3 10l2-6h14l2 6zM9 20v-6h6v6"},
	{"ri-fire-line", "Fire", "M12 21a6 6 0 0 1-6-6c0-4 4-5 4-12c5 2 8 7 8 12a6 6 0 0 1-6 6z"},
	{"ri-sun-line", "Sun", "M12 16a4 4 0 1 0 0-8a4 4 0 0 0 0 8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 " +
		"19l2-2M17 7l2-2"},
	{"ri-map-pin-line", "Place",
		"M12 21c-5-6-7-8-7-11a7 7 0 0 1 14 0c0 3-2 5-7 11zM12 12.5a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5z"},
	{"ri-calendar-line", "Calendar", "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4"},
	{"ri-gift-line", "Gift", "M5 12v8h14v-8M3 8h18v4H3zM12 8v12M12 8c-5 0-5-5-2-5c2 0 2 3 2 5zM12 8c5 0 5-5 2-5c-2 " +
		"0-2 3-2 5z"},
	{"ri-star-line", "Star", "M12 3l2.7 5.8 6.3.8-4.6 4.3 1.2 6.3L12 17l-5.6 3.2 1.2-6.3L3 9.6l6.3-.8z"},
	{"ri-megaphone-line", "News", "M4 10v4h3l9 5V5l-9 5zM19 9v6"},
}

// iconPath returns the SVG path of an icon, or of the hashtag icon if the icon is unknown.
func iconPath(token string) string {
	for _, one := range icons {
		if one.Value == token {
			return one.Path
		}
	}
	return icons[0].Path
}

// customColor is the value of the choice of a color that is not offered.
const customColor = "custom"

// selectedValue returns the color or icon in a form, or "".
func selectedValue(form url.Values, name string) string {
	if value := form.Get(name); value != customColor {
		return value
	}
	return strings.TrimSpace(form.Get(name + "_typed"))
}

// customValue returns a value that is not among the offered ones.
func customValue(form url.Values, name string, offered []look) string {
	value := selectedValue(form, name)
	if slices.ContainsFunc(offered, func(one look) bool { return one.Value == value }) {
		return ""
	}
	return value
}
