package networktest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

var version = regexp.MustCompile(`\b(\d{4}-\d\d-\d\d|\d{8}|\d+\.\d+(\.\d+)?)\b`)

// The guide to the networks names the versions of the descriptions and of the real server. Each file has a row in the
// list of descriptions, with the version that the file states.
func TestVersionsInGuide(t *testing.T) {
	t.Parallel()
	guide := string(must.Get(os.ReadFile("../../../docs/networks.md"))(t))
	list := string(must.Get(os.ReadFile("descriptions/README.md"))(t))
	files := must.Get(filepath.Glob("descriptions/*.json"))(t)
	for _, file := range files {
		name := filepath.Base(file)
		_, row, listed := strings.Cut(list, "| `"+name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(row, "|")
		if !listed || len(cells) < 2 {
			t.Errorf("%s is not in the list of descriptions", name)
			continue
		}
		for _, v := range version.FindAllString(cells[1], -1) {
			if !strings.Contains(guide, v) {
				t.Errorf("docs/networks.md does not name version %s of %s", v, name)
			}
		}
		var about struct {
			Revision string
			Info     struct{ Version string }
		}
		must.NoError(t, json.Unmarshal(must.Get(os.ReadFile(file))(t), &about))
		if own := about.Revision + about.Info.Version; !strings.Contains(cells[1], own) {
			t.Errorf("%s has version %s, not %s", name, own, cells[1])
		}
	}
	var server struct{ Dependencies map[string]string }
	must.NoError(t, json.Unmarshal(must.Get(os.ReadFile("../../../test/bluesky-server/package.json"))(t), &server))
	if pds := server.Dependencies["@atproto/pds"]; pds == "" || !strings.Contains(guide, "`@atproto/pds` "+pds) {
		t.Errorf("docs/networks.md does not name version %q of the genuine server", pds)
	}
}
