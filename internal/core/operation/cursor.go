package operation

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
)

const (
	cursorVersion   = 1
	cursorSumLength = 8 // length in bytes of the digest that binds a cursor to its team, operation and filters
)

var cursorEncoding = base64.RawURLEncoding.Strict()

// Cursor returns the opaque cursor for a keyset position. The cursor consists of a version, the position, and a digest
// of the position, the team, the operation and the filters. The digest detects mistakes. It is not secret.
func (c Call) Cursor(position string) string {
	buf := append([]byte{cursorVersion}, position...)
	return cursorEncoding.EncodeToString(append(buf, c.cursorSum(position)...))
}

// Position returns the position that a cursor contains. It returns an error if the cursor belongs to another team or
// operation or to other filters.
func (c Call) Position(cursor string) (string, error) {
	invalid := apierr.Invalid(apierr.InvalidCursor, "cursor",
		"The cursor is not for this list with these filters. Start again without it.")
	buf, err := cursorEncoding.DecodeString(cursor)
	if err != nil || len(buf) < 1+cursorSumLength || buf[0] != cursorVersion {
		return "", invalid
	}
	position, sum := string(buf[1:len(buf)-cursorSumLength]), buf[len(buf)-cursorSumLength:]
	if string(sum) != string(c.cursorSum(position)) {
		return "", invalid
	}
	return position, nil
}

func (c Call) cursorSum(position string) []byte {
	buf := binary.BigEndian.AppendUint64(nil, uint64(c.TeamID))
	for _, part := range []string{c.Operation, string(c.Filters), position} {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(part)))
		buf = append(buf, part...)
	}
	sum := sha256.Sum256(buf)
	return sum[:cursorSumLength]
}

func itoa(n int) string { return strconv.Itoa(n) }
