package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
)

// usernamePattern matches the names of profiles.
var usernamePattern = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

// cursorDays is the number of days for which a cursor is valid.
const cursorDays = 7

// vendorCursor is the position of a page. It holds the day on which the listing began, so that a new day does not
// change the listing.
type vendorCursor struct {
	Type string `json:"t"`
	Day  int64  `json:"d"` // since 1970
	From int    `json:"f"` // items passed by
}

// resumed parses the cursor of a later page of the listing that begins at c. It reports false if the cursor belongs to
// another listing or is too old.
func (c vendorCursor) resumed(text string) (vendorCursor, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, false
	}
	var given vendorCursor
	if err := json.Unmarshal(raw, &given); err != nil {
		return c, false
	}
	return given, given.Type == c.Type && given.From > 0 && given.Day <= c.Day && given.Day > c.Day-cursorDays
}

func (c vendorCursor) String() string {
	raw, _ := json.Marshal(c) //nolint:errchkjson // a struct of strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(raw)
}

// page returns the range of items on the page, and the cursor of the next page or "" on the last one.
func (c vendorCursor) page(items, limit int) (int, int, string) {
	from := min(c.From, items)
	to := min(from+limit, items)
	if to == items {
		return from, to, ""
	}
	c.From = to
	return from, to, c.String()
}

// postURL returns the address of a post on the sandbox.
func postURL(base, platform, name string, post worldPost) string {
	if platform == tiktokName {
		return base + "/tiktok/web/@" + name + "/video/" + post.id
	}
	return base + "/instagram/web/p/" + post.id
}
