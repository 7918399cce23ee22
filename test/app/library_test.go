package app

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/testkit/must"
)

// addImage adds an image of one gray level to the team's library and returns its path.
func (c *crew) addImage(tb testing.TB, name string, shade uint8) string {
	tb.Helper()
	raw := grayPNG(tb, shade)
	arrived := must.Get(c.Media.Add(tb.Context(), media.Owner{TeamID: c.team.ID, PersonID: c.people[access.Owner].ID},
		media.Incoming{Name: name + ".png", Type: "image/png", Size: int64(len(raw)), Body: bytes.NewReader(raw)}))(tb)
	return fmt.Sprintf("/media/%d", arrived.MediaID)
}

// grayPNG encodes an image of one gray level.
func grayPNG(tb testing.TB, shade uint8) []byte {
	tb.Helper()
	img := image.NewGray(image.Rect(0, 0, 40, 30))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	img.Set(0, 0, color.White)
	var out bytes.Buffer
	must.NoError(tb, png.Encode(&out, img))
	return out.Bytes()
}

func TestLibrary(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/media").shows(200, "The library is empty.", "0 bytes of").mustBeSmall()
		at := c.addImage(t, "quay", 10)
		c.addImage(t, "roaster", 90)
		b.open("/media").shows(200, "quay", "roaster", "40 × 30").mustBeSmall()
		b.open("/media?query=QUA").shows(200, "quay").lacks("roaster")
		b.open("/media?kind=video").shows(200, "No files match your filters.")
		for _, bad := range []string{"?folder=x", "?kind=sound", "?after=x", "?alt=no", "?sort=x"} {
			b.open("/media" + bad).shows(422)
		}
		b.open("/media?folder=77").shows(404)

		made := b.open("/media").follow("New folder").form("Create folder").fill("name", "Spring").press().
			shows(200, "The folder was created.", "Folder Spring", "This folder is empty.")
		b.open("/media/folder").form("Create folder").fill("name", "Spring").press().shows(422,
			"Another folder has this name. Choose a different one.")
		b.open("/media/folder").form("Create folder").fill("name", " . ").press().shows(422, "Enter a name")
		item := b.open(at).shows(200, "quay.png", "40 × 30 pixels", "Not used").mustBeSmall()
		folder := strings.TrimPrefix(made.path, "/media?folder=")
		item = item.form("Save").fill("folder", folder).press().shows(200, "Saved.", "Folder Spring")
		b.send(http.MethodPost, at, url.Values{"folder": {"99"}}).shows(404, "Folder not found")
		item = item.form("Save").fill("name", "<i>The quay</i>").press().
			shows(200, "Saved.", "_i_The quay__i_").lacks("<i>The")
		item.form("Save").fill("name", " .. ").press().shows(422, "Enter a name with letters or digits")
		item.form("Save").fill("alt", "A quay in the morning.").press().shows(200, "A quay in the morning.")
		// A form keeps concurrent changes by other people, and saves several changes together.
		item.form("Save").fill("name", "Quay").fill("folder", "0").press().shows(200, "Saved.", "A quay in the morning.", "Media")
		b.open(at).form("Save").fill("name", "<i>The quay</i>").fill("folder", folder).press().shows(200, "Folder Spring")
		b.open(at).form("Save").fill("alt", strings.Repeat("x", 1001)).press().shows(422, "at most 1000 characters").
			contains(strings.Repeat("x", 1001))
		b.open("/media?query=the+quay&folder="+folder).shows(200, "_i_The quay").lacks("roaster")
		change := b.open(made.path).follow("Rename or delete folder")
		change.form("Delete folder").press().shows(422, "The folder is not empty.")
		change.form("Rename").fill("name", "Summer").press().shows(200, "The folder was renamed.", "Folder Summer")
		b.open(at).form("Save").fill("folder", "0").press().shows(200, "Media")
		change.form("Delete folder").press().shows(200, "The folder was deleted.")
		if n := h.count(t, "media_folders"); n != 0 {
			t.Errorf("%d folders remain", n)
		}
	})
}

// A file's page describes the removed metadata. Only writers can download the original.
func TestMetadataOnItemPage(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		located := func(shade uint8) []byte {
			raw := grayPNG(t, shade)
			const text = "\x00\x00\x00\x08tEXtGPS\x00here"
			return slices.Concat(raw[:33], []byte(text), binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(text[4:]))), raw[33:])
		}
		add := func(raw []byte) string {
			arrived := must.Get(c.Media.Add(t.Context(), media.Owner{TeamID: c.team.ID},
				media.Incoming{Name: "quay.png", Size: -1, Body: bytes.NewReader(raw)}))(t)
			return fmt.Sprintf("/media/%d", arrived.MediaID)
		}
		editor, viewer, admin := c.as(t, access.Editor), c.as(t, access.Viewer), c.as(t, access.Admin)
		editor.open(add(grayPNG(t, 1))).shows(200, "quay.png").lacks("camera data", "Download original")
		removed := add(located(2))
		editor.open(removed).shows(200, "Location and camera data removed").lacks("Download original")
		admin.open("/settings/team").form("Save").fill("keep_originals", "1").press().shows(200, "Saved.")
		kept := add(located(3))
		viewer.open(kept).shows(200, "may include location and camera data").lacks("Download original")
		page := editor.open(kept).shows(200, "may include location and camera data").mustBeSmall()
		if got := page.follow("Download original"); got.status != 200 || got.source != string(located(3)) {
			t.Errorf("original: %d, %d bytes", got.status, len(got.source))
		}
		if got := editor.open(kept + "/file"); got.status != 200 || got.source != string(grayPNG(t, 3)) {
			t.Errorf("file: %d, %d bytes", got.status, len(got.source))
		}
		viewer.open(kept + "/original").shows(404)
	})
}

func TestDeleteFiles(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := c.addImage(t, "quay", 10)
		id := strings.TrimPrefix(at, "/media/")
		draft := c.draft(t, "With a picture", "")
		c.callTool(t, "update_post", map[string]any{"id": draft, "media_ids": []int64{int64(mustNumber(t, id))}})
		b.open(at).shows(200, "With a picture", "Draft").follow("Delete file").
			shows(200, "It is removed from these drafts:", "With a picture").follow("Cancel").shows(200, "quay.png")
		scheduled := c.draft(t, "Goes out", h.apiTime(1<<42))
		c.callTool(t, "update_post", map[string]any{"id": scheduled, "media_ids": []int64{int64(mustNumber(t, id))}})
		h.change(t, "UPDATE posts SET status = 'scheduled' WHERE id = ?", scheduled)
		unchosen := b.open(at+"/delete").shows(200, "These unpublished posts use it", "Goes out").
			form("Delete file").press().shows(422, "Choose below what happens to the posts.", "Goes out")
		if n := strings.Count(unchosen.source, `aria-invalid="true" aria-describedby="error"`); n != 2 {
			t.Errorf("%d choices are marked as invalid", n)
		}
		b.open(at+"/delete").form("Delete file").fill("posts", "keep").press().shows(422, "Remove it from them first.", "Goes out")
		if n := h.count(t, "post_media"); n != 2 {
			t.Errorf("%d posts use the file", n)
		}
		h.change(t, "UPDATE posts SET status = 'draft' WHERE id = ?", scheduled)
		b.open(at+"/delete").form("Delete file").press().shows(200, "The file was deleted.", "0 bytes of")
		for _, path := range []string{at, at + "/file", at + "/thumbnail", at + "/delete"} {
			b.open(path).shows(404)
		}
		b.open("/posts/"+draft).shows(200, "With a picture")
		if posts, files := h.count(t, "post_media"), h.count(t, "media"); posts != 0 || files != 0 {
			t.Errorf("%d posts use a file, %d files remain", posts, files)
		}
		if found, err := h.Media.Audit(t.Context()); err != nil || len(found) != 0 {
			t.Errorf("the audit finds %v (%v)", found, err)
		}
		c.addImage(t, "quay again", 10)
		b.open("/media").shows(200, "quay again")
	})
}

// After a file of approved posts was deleted, the page links to these posts so that a new approval link can be sent.
func TestDeleteFileOfApprovedPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := c.addImage(t, "quay", 10)
		id, plain := c.draft(t, "For the client", ""), c.draft(t, "Not for the client", "")
		for _, post := range []string{id, plain} {
			c.callTool(t, "update_post",
				map[string]any{"id": post, "media_ids": []int64{int64(mustNumber(t, strings.TrimPrefix(at, "/media/")))}})
		}
		b.open("/posts/"+id).follow("Send for approval…").form("Create link").press().
			shows(200, "Version 1", "Then send a new one.").lacks("shown from")
		h.change(t, "UPDATE posts SET approval = 'approved' WHERE id = ?", id)
		b.open(at+"/delete").shows(200, "need a new approval link").form("Delete file").fill("posts", "take_out").press().
			shows(200, "The file was deleted", "It was removed from 2 posts.", "clients are not notified automatically").
			lacks("Not for the client").
			follow("For the client").
			shows(200, "Version 2", "The post has changed since it was sent to the client.", "Send the new version").lacks("shown from")
		b.open(at).shows(404)
	})
}

// If the person confirms, a deleted file is removed from scheduled posts. Published posts are shown and duplicated
// without the file, in the app and in the API.
func TestDeletePublishedFile(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := c.addImage(t, "quay", 10)
		media := []int64{int64(mustNumber(t, strings.TrimPrefix(at, "/media/")))}
		sent, ahead := c.draft(t, "Went out", ""), c.draft(t, "Goes out", h.apiTime(1<<42))
		for _, id := range []string{sent, ahead} {
			c.callTool(t, "update_post", map[string]any{"id": id, "media_ids": media})
		}
		c.callTool(t, "schedule_post", map[string]any{"post_id": ahead, "scheduled_at": h.apiTime(1 << 42)})
		c.callTool(t, "publish_post", map[string]any{"post_id": sent})
		b.waitUntilPublished(sent).shows(200, "Published")
		b.open(at+"/delete").shows(200, "unpublished posts", "Goes out", "These posts were published with it", "Went out").
			form("Delete file").fill("posts", "take_out").press().
			shows(200, "The file was deleted and removed from 1 post.", "0 bytes of")
		b.open("/posts/"+ahead).shows(200, "Planned for", "A file of this post was deleted")
		b.open("/posts/"+sent).shows(200, "quay", "deleted", "Files of this post that were deleted", "PNG").lacks(at + "/thumbnail")
		for _, path := range []string{at, at + "/file", at + "/thumbnail"} {
			b.open(path).shows(404)
		}
		told := c.callTool(t, "get_post", map[string]any{"id": sent})
		if shown, _ := told["media"].([]any); len(shown) != 1 {
			t.Errorf("media of the post in the API = %v", told["media"])
		}
		b.open("/posts/"+sent).form("Duplicate").press().shows(200, "This is the copy")
		if n := h.count(t, "post_media"); n != 1 {
			t.Errorf("%d posts use the file", n)
		}
		if found, err := h.Media.Audit(t.Context()); err != nil || len(found) != 0 {
			t.Errorf("the audit finds %v (%v)", found, err)
		}
	})
}

func mustNumber(tb testing.TB, text string) int {
	tb.Helper()
	var n int
	must.Get(fmt.Sscan(text, &n))(tb)
	return n
}

func TestAddFiles(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 10)
		b := c.as(t, access.Owner)
		page := b.open("/media/add")
		opened := page.form("Choose files").press().shows(200, "Upload files", c.team.Name)
		if !strings.HasPrefix(opened.path, "/upload/") {
			t.Errorf("redirected to %s", opened.path)
		}
		page.form("Import").fill("url", "http://127.0.0.1/x.png").fill("filename", "typed").press().shows(422)
		again := page.form("Import").fill("url", "https://10.0.0.1/x.png").fill("filename", "typed").press().shows(422)
		if got := again.form("Import").values; got.Get("filename") != "typed" {
			t.Errorf("the input is lost: %v", got)
		}
		again.contains(`name="way" value="link" checked`) // the tab with the error is open
		b.open("/media/add").contains(`name="way" value="upload" checked`)
		b.open("/media/add").form("Import").fill("url", "https://files.example.com/x.png").press().
			shows(200, "Adding files to the library")
		// The folder is chosen once for all ways to add files.
		into := strings.TrimPrefix(b.open("/media/folder").form("Create folder").fill("name", "Inbox").press().path, "/media?folder=")
		chosen := b.open("/media/add").form("Choose").fill("folder", into).press().shows(200)
		for _, button := range []string{"Choose files", "Import"} {
			if got := chosen.form(button).values.Get("folder"); got != into {
				t.Errorf("%s: folder %q", button, got)
			}
		}
		b.open("/media/add").shows(200, "This costs 2 credits").form("Download for 2 credits").
			fill("username", "not a name!").press().shows(422, "Enter a username on this platform")
		b.open("/media/add").form("Download for 2 credits").fill("type", "playlists").fill("username", "harbour_cafe").
			press().shows(422, "This platform supports only")
		b.open("/media/add").form("Download for 2 credits").fill("username", "harbour_cafe").press().
			shows(200, "Downloading a profile’s media")
		c.as(t, access.Editor).open("/media/add").shows(200, "which your role cannot spend")
	})
}

func TestLibraryPermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		at := c.addImage(t, "oursalone", 10)
		pages := []string{"/media/add", "/media/alt", "/media/folder", at + "/crop", at + "/delete"}
		actions := []string{
			"/media/uploads", "/media/imports", "/media/downloads", "/media/folder/new", "/media/folder/rename",
			"/media/folder/delete", "/media/bulk", "/media/alt", at, at + "/crop",
			at + "/delete", at + "/description",
		}
		viewer, client, stranger, signedOut := c.as(t, access.Viewer), c.as(t, access.Client), other.as(t, access.Owner), h.browser(t)
		viewer.open("/media").shows(200, "oursalone").lacks("Add files", "New folder", "Select oursalone")
		viewer.open(at).shows(200, "oursalone").lacks("Delete file", "Save", "Crop or rotate", "Use in a post")
		for _, path := range append([]string{"/media", at}, pages...) {
			signedOut.open(path).shows(200, "Sign in").lacks("oursalone")
		}
		for _, path := range []string{at, at + "/delete"} {
			stranger.open(path).shows(404, "This page doesn’t exist").lacks("oursalone")
		}
		client.open("/media").shows(404)
		client.open(at).shows(404).lacks("oursalone")
		for _, path := range pages {
			viewer.open(path).shows(403)
			client.open(path).shows(403)
		}
		for _, path := range actions {
			form := url.Values{"name": {"mine"}, "alt": {"mine"}, "folder": {"1"}}
			signedOut.send(http.MethodPost, path, form).shows(200, "Sign in")
			for who, b := range map[string]*browser{"viewer": viewer, "client": client} {
				if p := b.send(http.MethodPost, path, form); p.status != 403 && p.status != 404 {
					t.Errorf("%s at %s: %d", who, path, p.status)
				}
			}
			if strings.HasPrefix(path, at) {
				stranger.send(http.MethodPost, path, form).shows(404).lacks("oursalone")
			}
		}
		if n := h.count(t, "media WHERE name = 'oursalone' AND alt = '' AND folder_id = 0"); n != 1 || h.count(t, "media_folders") != 0 {
			t.Error("the data was changed")
		}
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, other.people[access.Editor].ID, access.Editor))
		other.as(t, access.Editor).open(at).shows(200, "You switched to the team", "oursalone")
	})
}
