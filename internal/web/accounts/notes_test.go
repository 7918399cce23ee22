package accounts

import (
	"testing"

	"pressroom.example/pressroom/internal/locale"
)

// Dates in notes are written as the language does.
func TestNotes(t *testing.T) {
	t.Parallel()
	note := "Analytics have been collected since the account was connected on Sat 31 Oct 2026, 12:04. Older posts are " +
		"included if the network still listed them."
	want := "Analytics have been collected since the account was connected on Sat, Oct 31, 2026, 12:04 PM. Older posts are " +
		"included if the network still listed them."
	if got := notes.Translate(locale.American, []string{note})[0]; got != want {
		t.Errorf("the note is %q, want %q", got, want)
	}
}
