package browser

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// TestScreenshots takes the README's screenshots and the pictures of the front page. If SCREENSHOTS is set, it
// stores the screenshots in that folder of the repository and the pictures among the assets; see make screenshots.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	to, front := t.TempDir(), t.TempDir()
	if folder := os.Getenv("SCREENSHOTS"); folder != "" {
		to, front = filepath.Join("..", "..", folder), "../../internal/web/shell/assets"
	}
	to, front = must.Get(filepath.Abs(to))(t), must.Get(filepath.Abs(front))(t)
	drive(t, "screenshots.js", quickstart(t), greeting{"chromium": requireChromium(t), "screenshots": to, "front": front})
	shown := regexp.MustCompile(`docs/images/([a-z-]+\.png)`).FindAllSubmatch(must.Get(os.ReadFile("../../README.md"))(t), -1)
	if len(shown) == 0 {
		t.Error("the README contains no screenshots")
	}
	for _, image := range shown {
		if _, err := os.Stat(filepath.Join(to, string(image[1]))); err != nil {
			t.Errorf("a screenshot in the README is not taken by the test: %v", err)
		}
	}
}
