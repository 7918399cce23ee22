// Package browser tests the app's pages in Chromium with the built program.
package browser

import (
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
	"pressroom.example/pressroom/internal/testkit/require"
)

// requireChromium returns the path of Chromium. If Chromium, Node.js or an npm package is missing, it skips the test,
// or fails it in CI.
func requireChromium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("browser tests are slow")
	}
	require.NodePackage(t, ".", "playwright-core")
	return require.Program(t, "chromium-headless-shell", "chromium") // the headless shell needs half the CPU time
}

// greeting is the first line of quickstart --json.
type greeting map[string]any

// quickstart runs the program until the test ends.
func quickstart(t *testing.T) greeting {
	t.Helper()
	return quickstartAt(t, "127.0.0.1:0")
}

// quickstartAt is like quickstart, with a listen address. The greeting also contains the path of the data.
func quickstartAt(t *testing.T, addr string) greeting {
	t.Helper()
	g, data := greeting{}, filepath.Join(t.TempDir(), "data")
	program.Quickstart(t, &g, nil, "--data", data, "--addr", addr)
	g["binary"], g["data"] = program.Build(t, program.Pressroom, ""), data
	return g
}

// drive runs a script in this folder. The script gets the greeting and the values of more as JSON.
func drive(t *testing.T, script string, world greeting, more greeting) {
	t.Helper()
	world = maps.Clone(world)
	maps.Copy(world, more)
	input := must.Get(json.Marshal(world))(t)
	cmd := exec.CommandContext(t.Context(), "node", script)
	cmd.Env = append(os.Environ(), "PRESSROOM_BROWSER_WORLD="+string(input))
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	drive(t, "signin.js", quickstart(t), world)
}

func TestUpload(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	run := quickstart(t)
	dir := t.TempDir()
	world["pictures"] = map[string]string{
		"red":    picture(t, dir, "red", color.RGBA{R: 200, G: 30, B: 30, A: 255}),
		"green":  picture(t, dir, "green", color.RGBA{R: 30, G: 160, B: 60, A: 255}),
		"blue":   picture(t, dir, "blue", color.RGBA{R: 40, G: 60, B: 200, A: 255}),
		"yellow": picture(t, dir, "yellow", color.RGBA{R: 230, G: 200, B: 40, A: 255}),
		"large":  largePicture(t, dir),
	}
	world["upload_page_url"] = openPage(t, run)
	drive(t, "upload.js", run, world)
}

// openPage opens an upload batch without file descriptions and returns the URL of its upload page.
func openPage(t *testing.T, run greeting) string {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, run["base_url"].(string)+"/uploads",
		strings.NewReader("{}")))(t)
	req.Header.Set("Authorization", "Bearer "+run["keys"].(map[string]any)["full"].(string))
	req.Header.Set("Content-Type", "application/json")
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	var body struct {
		Data struct {
			PageURL string `json:"upload_page_url"`
		} `json:"data"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Data.PageURL == "" {
		t.Fatalf("%d %+v (%v)", resp.StatusCode, body, err)
	}
	return body.Data.PageURL
}

// picture writes a PNG of one color and returns its path.
func picture(t *testing.T, dir, name string, shade color.Color) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(img, img.Bounds(), image.NewUniform(shade), image.Point{}, draw.Src)
	return write(t, filepath.Join(dir, name+".png"), img)
}

// largePicture writes an image of some megabytes, so that its upload takes a moment.
func largePicture(t *testing.T, dir string) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1500, 1000))
	noise := rand.NewChaCha8([32]byte{})
	_, _ = noise.Read(img.Pix)
	return write(t, filepath.Join(dir, "large.png"), img)
}

func write(t *testing.T, path string, img image.Image) string {
	t.Helper()
	file := must.Get(os.Create(path))(t)
	must.NoError(t, errors.Join(png.Encode(file, img), file.Close()))
	return path
}
