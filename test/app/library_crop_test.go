package app

import (
	"fmt"
	"image"
	_ "image/jpeg" // decodes the cropped images
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// imageSize returns the size of the picture at a path.
func (b *browser) imageSize(path string) image.Point {
	b.t.Helper()
	config, _, err := image.DecodeConfig(strings.NewReader(b.open(path).source))
	must.NoError(b.t, err)
	return image.Pt(config.Width, config.Height)
}

// An image can be cropped and rotated. The result is a new file with the folder and alternative text of the original.
func TestCropImage(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := c.addImage(t, "quay", 10) // 40 × 30
		b.open(at).form("Save").fill("alt", "The quay.").press().shows(200)
		folder := strings.TrimPrefix(b.open("/media/folder").form("Create folder").fill("name", "Spring").press().path, "/media?folder=")
		b.open(at).form("Save").fill("folder", folder).press().shows(200)

		page := b.open(at).follow("Crop or rotate").shows(200, "40 × 30 pixels", "4:5", "1.91:1", "9:16", "16:9", "2:3")
		made := page.form("Save as a new image").fill("shape", "1x1").press().
			shows(200, "This is the new image.", "quay 1x1", "30 × 30 pixels", "Folder Spring", "The quay.")
		if made.path == at {
			t.Fatal("redirected to the original")
		}
		if got := b.imageSize(made.path + "/file"); got != image.Pt(30, 30) {
			t.Errorf("size of the new image = %v", got)
		}
		if got := b.imageSize(at + "/file"); got != image.Pt(40, 30) {
			t.Errorf("size of the original = %v", got)
		}
		page.form("Save as a new image").fill("shape", "1x1").press().shows(200, "The library already had this image.")
		for _, c := range []struct {
			fields []string // shape, turn, left, top, width, height
			want   string
		}{
			{[]string{"", "1", "0", "0", "40", "30"}, "quay rotated"},
			{[]string{"", "0", "10", "6", "20", "17"}, "20 × 17 pixels"},
			{[]string{"", "3", "10", "6", "20", "18"}, "18 × 20 pixels"},
			{[]string{"4x5", "1", "0", "0", "40", "30"}, "30 × 37 pixels"},
			{[]string{"9x16", "0", "0", "0", "40", "30"}, "16 × 30 pixels"},
			{[]string{"4x5", "0", "3", "0", "24", "30"}, "24 × 30 pixels"},
			{[]string{"4x5", "0", "3", "0", "23", "29"}, "23 × 29 pixels"}, // rounded to whole pixels
			{[]string{"16x9", "0", "5", "0", "30", "30"}, "30 × 16 pixels"},
		} {
			form := page.form("Save as a new image")
			for n, name := range []string{"shape", "turn", "left", "top", "width", "height"} {
				form.fill(name, c.fields[n])
			}
			form.press().shows(200, c.want)
		}
		if found, err := h.Media.Audit(t.Context()); err != nil || len(found) != 0 {
			t.Errorf("the audit finds %v (%v)", found, err)
		}
	})
}

// Invalid crops show an error and keep the input.
func TestCropProblems(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := c.addImage(t, "quay", 10)
		page := b.open(at + "/crop")
		page.form("Save as a new image").press().shows(422, "This is the whole image.")
		wide := page.form("Save as a new image").fill("left", "20").fill("shape", "4x5").press().
			shows(422, "The crop area extends beyond the image.").form("Save as a new image")
		if wide.values.Get("left") != "20" || wide.values.Get("shape") != "4x5" {
			t.Errorf("the input is lost: %v", wide.values)
		}
		page.form("Save as a new image").fill("width", "15").press().shows(422, "at least 16 pixels per side")
		page.form("Save as a new image").fill("width", "1e9").press().shows(422, "in whole pixels")
		form := page.form("Save as a new image")
		form.values.Set("shape", "7x7")
		form.press().shows(422, "Choose an aspect ratio.")
		film := fmt.Sprintf("/media/%d", c.addVideo(t))
		b.open(film).shows(200).lacks("Crop or rotate")
		b.open(film + "/crop").shows(404)
		if n := h.count(t, "media WHERE kind = 'image'"); n != 1 {
			t.Errorf("%d images in the library", n)
		}
	})
}
