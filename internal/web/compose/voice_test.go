package compose

import "testing"

func TestContainsWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"Cheap coffee", "cheap", true},
		{"Our coffee is cheap.", "Cheap", true},
		{"Cheaper than ever", "cheap", false},
		{"nocheap, but cheap", "cheap", true},
		{"#cheap", "cheap", true},
		{"See you\nat the  harbour!", "see you at the harbour", true},
		{"Günstig und überall", "günstig", true},
		{"Ungünstig", "günstig", false},
		{"Bügel", "ugel", false},
		{"", "cheap", false},
		{"Cheap", "", false},
	} {
		if got := containsWord(c.text, c.word); got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.text, got)
		}
	}
}
