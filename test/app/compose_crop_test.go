package app

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
)

// checkTyped checks that a page of the composer has the values of a form, with the given changes.
func (f *form) checkTyped(page *form, change map[string][]string) {
	f.p.b.t.Helper()
	want, got := maps.Clone(f.values), maps.Clone(page.values)
	maps.Copy(want, change)
	for _, values := range []map[string][]string{want, got} {
		for _, name := range []string{"once", "do", "files"} {
			delete(values, name)
		}
		maps.DeleteFunc(values, func(_ string, v []string) bool { return strings.Join(v, "") == "" })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.p.b.t.Errorf("the form has changed (-want +got):\n%s", diff)
	}
}

// cropSquare saves a square copy on the crop page and returns the composer and the ID of the copy.
func cropSquare(t *testing.T, page *page) (*page, string) {
	t.Helper()
	back := page.form("Save and use in the post").fill("shape", "1x1").press().
		shows(200, "The new image is in the post.", "quay 1x1")
	value := attribute(back.form("Crop or rotate quay 1x1").button, "value") // crop:LIST:ID
	id := value[strings.LastIndex(value, ":")+1:]
	return back, id
}

// An image of the composer can be cropped. The copy takes its place, and everything that was typed is kept.
func TestCropInComposer(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		instagram := c.addAccountOf(t, "instagram")
		quay, boat := mediaID(c.addImage(t, "quay", 10)), mediaID(c.addImage(t, "boat", 20))
		date, hour, _ := c.formTime(t, 48*time.Hour)
		f := b.open("/posts/new?account="+instagram+"&media="+boat+"&media="+quay).form("Crop or rotate quay").
			fill("caption", "Half a\nthought").fill("alt-"+quay, "Typed here.").fill("date", date).fill("time", hour).
			fill("repeat", "weekly").fill("first-comment", "More below.").fill("text-"+instagram, "Only here")
		posts := c.count(t, "posts")
		page := f.press().shows(200, "Saves a copy and uses it in the post.", "For this post’s accounts", "Other aspect ratios")
		if square, pin := strings.Index(page.source, "r1x1"), strings.Index(page.source, "Other aspect ratios"); square > pin {
			t.Error("the square is not suggested for Instagram")
		}
		if wide, other := strings.Index(page.source, "r16x9"), strings.Index(page.source, "Other aspect ratios"); wide < other {
			t.Error("16:9 is suggested for Instagram")
		}
		for _, link := range []string{"Cancel", "Back to the post"} {
			f.checkTyped(page.follow(link).shows(200).form("Save draft"), nil)
		}
		// A problem keeps the way back.
		page = page.form("Save and use in the post").press().shows(422, "This is the whole image.")
		f.checkTyped(page.follow("Cancel").shows(200).form("Save draft"), nil)

		back, square := cropSquare(t, page)
		composer := back.form("Save draft")
		want := map[string][]string{"media": {boat, square}, "alt-" + quay: nil, "alt-" + square: {"Typed here."}}
		f.checkTyped(composer, want)
		f.checkTyped(b.open(back.path).shows(200).lacks("The new image is in the post.").form("Save draft"), want)
		if c.count(t, "posts") != posts {
			t.Error("cropping created a post")
		}
		saved := composer.fill("repeat", "").press().shows(200, "Saved.")
		media := c.storedPost(t, saved.path).Media
		if len(media) != 2 || fmt.Sprint(media[1].ID) != square || media[1].Alt != "Typed here." {
			t.Errorf("media of the post: %v", media)
		}
	})
}

// Images of an existing post, of an account, and of a part of the thread can be cropped.
func TestCropInComposerLists(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		saved := b.open("/posts/new?caption=First&account="+c.id()).form("Save draft").press().shows(200, "Saved.")
		quay := mediaID(c.addImage(t, "quay", 10))
		for _, field := range []string{"media", "media-" + c.id(), "partmedia-1"} {
			f := b.open(saved.path + "/edit").form("Save")
			f.values["part-1"], f.values[field] = []string{"Second"}, []string{quay}
			f.values.Set("do", "check")
			f = b.send(http.MethodPost, saved.path+"/edit", f.values).form("Crop or rotate quay").fill("caption", "Changed")
			back, square := cropSquare(t, f.press())
			if !strings.HasPrefix(back.path, saved.path+"/edit?unsaved=") {
				t.Errorf("%s leads to %s", field, back.path)
			}
			f.checkTyped(back.form("Save"), map[string][]string{field: {square}, "alt-" + quay: nil})
			if at := strings.Index(back.source, "-"+square+`" data-media=`); at < 0 {
				t.Errorf("%s: the page has no element for the fragment", field)
			}
		}
		if held := c.storedPost(t, saved.path); held.Caption != "First" {
			t.Errorf("caption = %q", held.Caption)
		}
	})
}

// Files that a browser without scripts sends with the button stay in the post.
func TestCropInComposerWithUpload(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		quay := mediaID(c.addImage(t, "quay", 10))
		page := b.open("/posts/new?media="+quay).form("Crop or rotate quay").attach("boat.png", colorPNG(t, 40))
		composer, square := cropSquare(t, page.shows(200, "Crop or rotate"))
		media := composer.shows(200, "boat").form("Save draft").values["media"]
		if len(media) != 2 || media[0] != square {
			t.Errorf("media = %v", media)
		}
	})
}

// The crop page leads only to the composer. A copy that cannot be used in the post stays in the library.
func TestCropInComposerProblems(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b := c.as(t, access.Editor)
		quay, foreign := mediaID(c.addImage(t, "quay", 10)), mediaID(other.addImage(t, "quay", 20))
		draft, post := strings.Repeat("A", 26), "00000000-0000-0000-0000-000000000000"
		for _, query := range []string{
			"draft=https://evil.example", "draft=" + draft, "draft=" + draft + "&list=//evil.example",
			"draft=" + draft + "&list=0&post=//evil.example", "draft=" + draft + "&list=0&post=" + post + "/..", "draft=",
		} {
			b.open("/media/" + quay + "/crop?" + query).shows(404)
			form := b.open("/media/"+quay+"/crop").form("Save as a new image").fill("shape", "1x1")
			for pair := range strings.SplitSeq(query, "&") {
				name, value, _ := strings.Cut(pair, "=")
				form.values.Set(name, value)
			}
			form.press().shows(404)
		}
		b.open("/media/" + foreign + "/crop?list=0&draft=" + draft).shows(404)
		if n := h.count(t, "media"); n != 2 {
			t.Errorf("%d files in the libraries", n)
		}

		f := b.open("/posts/new?caption=Hello&media=" + quay).form("Crop or rotate quay")
		for _, do := range []string{"crop", "crop:0:" + foreign, "crop:part-3:" + quay, "crop:-1:x"} {
			f.values.Set("do", do)
			f.checkTyped(b.send(http.MethodPost, "/posts/new", f.values).shows(200, "New post").form("Save draft"), nil)
		}
		page := f.press()
		// Other people cannot change the form.
		c.as(t, access.Owner).send(http.MethodPost, "/media/"+quay+"/crop",
			page.form("Save and use in the post").fill("shape", "1x1").values).
			shows(200, "The new image is in the library, but not in the post", "quay 1x1")
		// The same crop twice does not use the image twice.
		composer, square := cropSquare(t, page)
		twice := composer.form("Save draft")
		twice.values["media"] = []string{quay, square}
		twice.values.Set("do", "crop:0:"+quay)
		again := b.send(http.MethodPost, "/posts/new", twice.values).form("Save and use in the post").fill("shape", "1x1").press()
		again.shows(200, "The post already contains the new image.")
		twice.checkTyped(again.form("Save draft"), nil)
		// The post is saved in the meantime.
		page = again.form("Crop or rotate quay").press()
		saved := page.follow("Cancel").form("Save draft")
		saved.press().shows(200, "Saved.")
		page.form("Save and use in the post").fill("shape", "4x5").press().
			shows(200, "The new image is in the library, but not in the post", "quay 4x5")
		saved.values.Set("do", "crop:0:"+quay)
		b.send(http.MethodPost, "/posts/new", saved.values).shows(422, "This form was already submitted").form("Save draft")
		// A form that is too long is shown again.
		long := b.open("/posts/new?media="+quay).form("Crop or rotate quay").fill("caption", strings.Repeat("é", 300_000))
		long.checkTyped(long.press().shows(422, "The post is too long. Save it before you crop its images.").form("Save draft"), nil)
	})
}
