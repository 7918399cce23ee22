package operation_test

import (
	"testing"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
)

func call(team int64, op, filters string) operation.Call {
	return operation.Call{Actor: &access.Actor{TeamID: team}, Operation: op, Filters: []byte(filters)}
}

// A cursor is valid only unchanged and for its own team, operation and filters.
func TestCursorsBoundToCall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		position := rapid.String().Draw(t, "position")
		mine := call(7, "list_posts", `{"status":"draft"}`)
		cursor := mine.Cursor(position)
		if got, err := mine.Position(cursor); err != nil || got != position {
			t.Fatalf("%q came back as %q (%v)", position, got, err)
		}
		for _, other := range []operation.Call{
			call(8, "list_posts", `{"status":"draft"}`), call(7, "list_media", `{"status":"draft"}`), call(7, "list_posts", ``),
		} {
			if _, err := other.Position(cursor); !apierr.Is(err, apierr.ValidationFailed) {
				t.Fatalf("accepted by %s %s of team %d", other.Operation, other.Filters, other.TeamID)
			}
		}
		i := rapid.IntRange(0, len(cursor)-1).Draw(t, "at")
		changed := cursor[:i] + string(rapid.SampledFrom([]byte("AZaz09-_")).Draw(t, "to")) + cursor[i+1:]
		if changed == cursor {
			return
		}
		if _, err := mine.Position(changed); err == nil {
			t.Fatalf("a changed cursor was accepted: %s", changed)
		}
	})
}

func FuzzPosition(f *testing.F) {
	mine := call(7, "list_posts", "")
	f.Add(mine.Cursor("0|x"))
	f.Add("")
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, cursor string) {
		position, err := mine.Position(cursor)
		if err == nil && mine.Cursor(position) != cursor {
			t.Fatalf("%q is a different encoding of a cursor", cursor)
		}
	})
}
