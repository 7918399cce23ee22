package plaintext_test

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/plaintext"
)

func TestPlaintext(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ line, lines string }{
		" Cleo\x00\r\nPark \xff":                        {"Cleo Park", "Cleo\nPark"},
		"approved\u202e.ton":                            {"approved.ton", "approved.ton"},
		"a\u2066b\u2069\u200e\u200f\u061c\u00ad\ufeffc": {"abc", "abc"},
		"one\u2028two\u0085three\tfour":                 {"one two three four", "one two three four"},
		"👨\u200d👩\u200d👧 می\u200cخواهم":                 {"👨\u200d👩\u200d👧 می\u200cخواهم", "👨\u200d👩\u200d👧 می\u200cخواهم"},
		"\n\n a \n\n b \n":                              {"a b", "a \n\n b"},
		"\u202e":                                        {"", ""},
	} {
		if got := plaintext.Line(text); got != want.line {
			t.Errorf("Line(%q) = %q, want %q", text, got, want.line)
		}
		if got := plaintext.Lines(text); got != want.lines {
			t.Errorf("Lines(%q) = %q, want %q", text, got, want.lines)
		}
	}
}

func TestUnlinked(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Harbour Coffee":                 "Harbour Coffee",
		"Booking.com":                    "Booking.\u200ccom",
		"Verify: https://evil.tld/x ":    "Verify:\u200c https:\u200c/\u200c/\u200cevil.\u200ctl…",
		"www.evil.tld\u202e\r\nBcc: a@b": "www.\u200cevil.\u200ctld Bcc:\u200c a@\u200cb",
		strings.Repeat("x ", 13) + "x":   strings.Repeat("x ", 11) + "x…",
	} {
		if got := plaintext.BreakLinks(name, 24); got != want {
			t.Errorf("Unlinked(%q) = %q, want %q", name, got, want)
		}
	}
}
