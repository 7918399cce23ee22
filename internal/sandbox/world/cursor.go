package world

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
)

// UsernamePattern matches valid names of profiles.
var UsernamePattern = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

// CursorDays is the number of days for which a cursor is valid.
const CursorDays = 7

// Cursor is a position in a list. It contains the day on which the client started to read the list, so that the list
// does not change when a new day starts.
type Cursor struct {
	Type   string `json:"t"` // type of the list
	Day    int64  `json:"d"` // days since 1970
	Offset int    `json:"f"` // number of items before the position
}

// Resume parses text as a later cursor in the list that starts at c. It returns false if the cursor is invalid, belongs
// to another list or is too old.
func (c Cursor) Resume(text string) (Cursor, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, false
	}
	var cursor Cursor
	if err := json.Unmarshal(raw, &cursor); err != nil {
		return c, false
	}
	return cursor, cursor.Type == c.Type && cursor.Offset > 0 && cursor.Day <= c.Day && cursor.Day > c.Day-CursorDays
}

// String returns the cursor in the form that clients receive.
func (c Cursor) String() string {
	raw, _ := json.Marshal(c) //nolint:errchkjson // a struct of strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Page returns the range of the items on the page, and the cursor for the next page. The cursor is empty if there is no
// next page.
func (c Cursor) Page(items, limit int) (int, int, string) {
	from := min(c.Offset, items)
	to := min(from+limit, items)
	if to == items {
		return from, to, ""
	}
	c.Offset = to
	return from, to, c.String()
}

// PostURL returns the URL of a post on the sandbox.
func PostURL(base, platform, name string, post Post) string {
	if platform == tiktok {
		return base + "/tiktok/web/@" + name + "/video/" + post.ID
	}
	return base + "/instagram/web/p/" + post.ID
}
