package preview

import (
	"reflect"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/testkit/templatecheck"
)

// The templates of the networks, and the blocks that are rendered separately, use only fields and methods of Post.
func TestTemplatesFitPosts(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, found := range parse(locale.English).Templates() {
		name := found.Name()
		isFile := strings.HasSuffix(name, ".html") && name != "_parts.html"
		if !isFile && name != "comment" && name != "settings" {
			continue
		}
		checked++
		for _, err := range templatecheck.Check(found, reflect.TypeFor[Post]()) {
			t.Error(err)
		}
	}
	if checked < len(looks) {
		t.Errorf("checked %d templates, want at least those of %d networks", checked, len(looks))
	}
}
