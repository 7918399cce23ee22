package world

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
)

// UsernamePattern matches the names of profiles.
var UsernamePattern = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

// CursorDays is the number of days for which a cursor is valid.
const CursorDays = 7

// Cursor is the position of a page. It holds the day on which the listing began, so that a new day does not
// change the listing.
type Cursor struct {
	Type string `json:"t"`
	Day  int64  `json:"d"` // since 1970
	From int    `json:"f"` // items passed by
}

// Resume parses the cursor of a later page of the listing that begins at c. It reports false if the cursor belongs to
// another listing or is too old.
func (c Cursor) Resume(text string) (Cursor, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, false
	}
	var given Cursor
	if err := json.Unmarshal(raw, &given); err != nil {
		return c, false
	}
	return given, given.Type == c.Type && given.From > 0 && given.Day <= c.Day && given.Day > c.Day-CursorDays
}

// String returns the cursor as clients see it.
func (c Cursor) String() string {
	raw, _ := json.Marshal(c) //nolint:errchkjson // a struct of strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Page returns the range of items on the page, and the cursor of the next page or "" on the last one.
func (c Cursor) Page(items, limit int) (int, int, string) {
	from := min(c.From, items)
	to := min(from+limit, items)
	if to == items {
		return from, to, ""
	}
	c.From = to
	return from, to, c.String()
}

// PostURL returns the address of a post on the sandbox.
func PostURL(base, platform, name string, post Post) string {
	if platform == tiktok {
		return base + "/tiktok/web/@" + name + "/video/" + post.ID
	}
	return base + "/instagram/web/p/" + post.ID
}
