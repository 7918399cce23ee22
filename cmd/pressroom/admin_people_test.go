package main

import "testing"

// A link is mailed if a mail server is set, unless the operator asks to print it. Only a mailed link confirms
// the email address.
func TestLinksMailedByDefault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags mailFlags
		want  bool
	}{
		{mailFlags{}, false},
		{mailFlags{Mail: true}, true},
		{mailFlags{SMTP: "smtp://mail.example"}, true},
		{mailFlags{SMTP: "smtp://mail.example", PrintLink: true}, false},
	} {
		if got := c.flags.sendsMail(); got != c.want {
			t.Errorf("%+v: mailed %t, want %t", c.flags, got, c.want)
		}
	}
}
