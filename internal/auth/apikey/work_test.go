package apikey

import (
	"strings"
	"testing"
)

// What is searched is bounded by the text's length, whatever the text is.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	layers := "=3D3D%" + strings.Repeat("25", 50) + `\\\\\\\\` + "&amp;amp;amp;amp;"
	for _, pattern := range []string{"V", "A", "7072", "%25", layers, layers + "VVVV" + strings.Repeat("3d", 50)} {
		text := strings.Repeat(pattern, 10_000/len(pattern))
		s := search{left: bound(text)}
		s.add(text)
		searched := 0
		for len(s.next) > 0 {
			layer := s.next
			s.next = nil
			for _, part := range layer {
				searched += len(part)
				if s.in(part) {
					t.Fatalf("found in many of %q", pattern)
				}
			}
		}
		if searched > bound(text) {
			t.Errorf("%d of %d bytes for many of %q", searched, len(text), pattern)
		}
	}
}
