package hashtags

import (
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

// appearance is a color or icon that the form offers.
type appearance struct {
	Value string
	Name  locale.Key
	Path  string // SVG path of an icon in a 24 × 24 box
}

// colors are the offered colors, readable on light and dark backgrounds.
var colors = []appearance{
	{Value: "#1f8a7d", Name: "Teal"}, {Value: "#2f7dc4", Name: "Blue"}, {Value: "#7a63c9", Name: "Violet"},
	{Value: "#c2528b", Name: "Pink"},
	{Value: "#cf4a3c", Name: "Red"}, {Value: "#c9752b", Name: "Orange"}, {Value: "#a38a1c", Name: "Ochre"},
	{Value: "#5b8f3a", Name: "Green"},
}

// icons are the offered icons, under the names that the API uses. The drawings are pressroom's own.
var icons = []appearance{
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
	{"ri-run-line", "Running|icon", "M14 4.5a1.5 1.5 0 1 0 0-.1M6 9l4-2 4 3-3 5 4 2v5M11 15l-2 3H5M14 10l2 2h3"},
	{"ri-football-line", "Ball", "M12 21a9 9 0 1 0 0-18a9 9 0 0 0 0 18zM12 8l4 3-1.5 4.5h-5L8 11zM12 8V3M16 11l5-1" +
		"M14.5 15.5l3 4M9.5 15.5l-3 4M8 11L3 10"},
	{"ri-t-shirt-line", "Clothes", "M8 3L3 7l2 4 2-1v11h10V10l2 1 2-4-5-4c-1 3-7 3-8 0z"},
	{"ri-landscape-line", "Mountains", "M2 20l7-12 4 7 3-4 6 9zM17 6.5a1.5 1.5 0 1 0 0-.1"},
	{"ri-footprint-line", "Paw", "M12 12c-3 0-5 3-5 5.5S9 20 12 20s5 0 5-2.5S15 12 12 12zM5.5 11v-1M9.3 7V5.5" +
		"M14.7 7V5.5M18.5 11v-1"},
	{"ri-plant-line", "Plant", "M12 21v-9M12 14c0-5-3-7-8-7c0 5 3 7 8 7zM12 11c0-4 3-7 8-7c0 5-3 7-8 7z"},
	{"ri-parent-line", "Family", "M8 10a3 3 0 1 0 0-6a3 3 0 0 0 0 6zM3 20v-3a5 5 0 0 1 10 0v3M17.5 13a2 2 0 1 0 0-4a2 2 " +
		"0 0 0 0 4zM16 16.5a3 3 0 0 1 5 2V20"},
	{"ri-palette-line", "Palette", "M12 3a9 9 0 1 0 0 18c2 0 2-2 1.5-3c-.5-2 .5-3 2.5-3h2a3 3 0 0 0 3-3c0-5-4-9-9-9zM7.5 " +
		"12v-.1M10 7.5v-.1M15 7.5v-.1"},
	{"ri-scissors-cut-line", "Scissors", "M6 9a3 3 0 1 0 0-6a3 3 0 0 0 0 6zM6 21a3 3 0 1 0 0-6a3 3 0 0 0 0 6zM8.5 8L20 19" +
		"M8.5 16L20 5"},
	{"ri-gamepad-line", "Games", "M7 7h10a5 5 0 0 1 5 5v1a4 4 0 0 1-7 3H9a4 4 0 0 1-7-3v-1a5 5 0 0 1 5-5zM8 10v4M6 12h4" +
		"M16 11v-.1M18 13v-.1"},
	{"ri-code-line", "Code|icon", "M8 7l-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14"},
	{"ri-calendar-event-line", "Event|icon", "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4M13 14h3v3h-3z"},
	{"ri-hearts-line", "Hearts", "M9 20c-5-4-6.5-6-6.5-9A3.5 3.5 0 0 1 9 9.5a3.5 3.5 0 0 1 6.5 1.5c0 3-1.5 5-6.5 " +
		"9zM14 6a3.4 3.4 0 0 1 7 1c0 2-1 4-3 6"},
	{"ri-mental-health-line", "Mind", "M13 3a8 8 0 0 0-8 8l-2 4h2v4h4v2h8v-6a8 8 0 0 0-4-12zM13 13c-2.5-1.5-3-2.5-3-3.5" +
		"a1.5 1.5 0 0 1 3-.5a1.5 1.5 0 0 1 3 .5c0 1-.5 2-3 3.5z"},
	{"ri-recycle-line", "Recycling", "M4 13a8 8 0 0 1 13-6l3 3M20 5v5h-5M20 12a8 8 0 0 1-13 6l-3-3M4 19v-4h5"},
	{"ri-car-line", "Car", "M5 11l2-6h10l2 6M3 11h18v7H3zM6 18v2M18 18v2M7 14.5v-.1M17 14.5v-.1"},
	{"ri-building-line", "Building", "M5 21V4h9v17M14 9h5v12M2 21h20M8.5 8h2M8.5 12h2M8.5 16h2"},
	{"ri-graduation-cap-line", "Graduation", "M2 9l10-5 10 5-10 5zM6 11.5V17c3 3 9 3 12 0v-5.5M22 9v6"},
	{"ri-goblet-line", "Glass", "M6 3h12l-1 6a5 5 0 0 1-10 0zM12 14v7M8 21h8"},
	{"ri-bowl-line", "Bowl", "M3 11h18a9 9 0 0 1-6 8.5V21H9v-1.5A9 9 0 0 1 3 11zM9 7c0-2 2-2 2-4M14 7c0-2 2-2 2-4"},
	{"ri-compass-line", "Compass", "M12 21a9 9 0 1 0 0-18a9 9 0 0 0 0 18zM15.5 8.5l-2 5-5 2 2-5z"},
}

// brandIcons are the icons of networks on ready-made lists. The form does not offer them.
var brandIcons = []appearance{
	{Value: "ri-instagram-line", Path: "M7 3h10a4 4 0 0 1 4 4v10a4 4 0 0 1-4 4H7a4 4 0 0 1-4-4V7a4 4 0 0 1 4-4zM12 16a4 4 0 1 0 0-8" +
		"a4 4 0 0 0 0 8zM17 7v-.1"},
	{Value: "ri-tiktok-line", Path: "M14 3v12a4 4 0 1 1-4-4M14 3c0 3 2 5 5 5"},
}

// iconPath returns the SVG path of an icon, or of the hashtag icon if the icon is unknown. A filled icon has the path
// of its outline.
func iconPath(token string) string {
	if name, filled := strings.CutSuffix(token, "-fill"); filled {
		token = name + "-line"
	}
	for _, icon := range slices.Concat(icons, brandIcons) {
		if icon.Value == token {
			return icon.Path
		}
	}
	return icons[0].Path
}

// customChoice is the form value that selects a color or icon that is not offered.
const customChoice = "custom"

// selectedValue returns the color or icon in a form, or "".
func selectedValue(form url.Values, name string) string {
	if value := form.Get(name); value != customChoice {
		return value
	}
	return strings.TrimSpace(form.Get(name + "_typed"))
}

// customValue returns the color or icon in a form if it is not in offered, or "".
func customValue(form url.Values, name string, offered []appearance) string {
	value := selectedValue(form, name)
	if slices.ContainsFunc(offered, func(a appearance) bool { return a.Value == value }) {
		return ""
	}
	return value
}
