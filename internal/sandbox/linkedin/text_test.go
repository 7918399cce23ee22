package linkedin

import "testing"

func TestVisibleText(t *testing.T) {
	for little, want := range map[string]string{
		"":                             "",
		"plain, 100%!":                 "plain, 100%!",
		`a \(b\) \\ \#c`:               `a (b) \ #c`,
		"cut (here)":                   "cut ",
		"cut_here":                     "cut",
		"a <b":                         "a ",
		"end\\":                        "end",
		`{hashtag|\#|two\_words} more`: "#two_words more",
		"a #bare tag":                  "a #bare tag",
		"no # tag":                     "no ",
		"@[Mira](urn:li:person:a_b) x": "Mira x",
		"@nobody":                      "",
		`{hashtag|\#|} x`:              "",
	} {
		if got := visibleText(little); got != want {
			t.Errorf("visibleText(%q) = %q, want %q", little, got, want)
		}
	}
}
