package main

import "testing"

func TestContactURI(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "security@example.com": "mailto:security@example.com",
		"mailto:security@example.com":    "mailto:security@example.com",
		"https://example.com/report?x=1": "https://example.com/report?x=1",
	} {
		if got, err := contactURI(text); err != nil || got != want {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
	}
	for _, bad := range []string{
		"somebody", "http://example.com/report", "https:", "mailto:", "Ada <ada@example.com>",
		"a@example.com\nContact: b@example.com", "javascript:alert(1)", "https://exa mple.com",
	} {
		if got, err := contactURI(bad); err == nil {
			t.Errorf("%q is accepted as %q", bad, got)
		}
	}
}
