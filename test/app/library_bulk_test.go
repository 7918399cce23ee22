package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// mediaID returns the ID in the path of a file's page.
func mediaID(at string) string { return strings.TrimPrefix(at, "/media/") }

// The library filters by name, alternative text, kind and folder. It has three sort orders and pages.
func TestBrowseLibrary(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		quay, boat := c.addImage(t, "quay", 10), c.addImage(t, "boat", 20)
		c.addVideo(t)
		b.open(quay).form("Save").fill("alt", "Möwen im Morgenlicht.").press().shows(200)
		b.open("/media").shows(200, "Files 3", "Missing alt text 1", "No alt text", "Videos").lacks("Not in a folder")
		for _, text := range []string{"MÖWEN", "morgen", "Quay"} {
			b.open("/media?"+url.Values{"query": {text}}.Encode()).shows(200, "Files 1", "quay").lacks("boat")
		}
		b.open("/media?query=50%25").shows(200, "No files match your filters.")
		b.open("/media").follow("Missing alt text 1").shows(200, "Files 1", "boat").lacks("Select quay").
			follow("Missing alt text 1 (selected; remove this filter)").shows(200, "Files 3")
		b.open("/media").follow("Videos").shows(200, "Files 1").lacks("quay", "boat")

		folder := strings.TrimPrefix(b.open("/media/folder").form("Create folder").fill("name", "Spring").press().path, "/media?folder=")
		b.open(boat).form("Save").fill("folder", folder).press().shows(200)
		b.open("/media").shows(200, "Spring 1 file").contains(boat+"/thumbnail").follow("Spring 1 file").
			shows(200, "Folder Spring", "Files 1", "boat").lacks("Select quay", "Spring 1 file")
		b.open("/media").follow("Not in a folder").shows(200, "Files 2", "quay").lacks("boat")
		b.open("/media?sort=oldest").follow("quay").shows(200, "Next file").lacks("Previous file").
			follow("Next file").shows(200, "boat", "Previous file").form("Save").press().shows(200, "Saved.").
			follow("Next file").shows(200, "Previous file").contains(`class="crumbs"><a href="/media?sort=oldest"`).lacks("Next file")
		b.open(quay+"?sort=wrong").shows(200, "quay", "Previous file").lacks("Next file")

		for n := range 30 {
			c.addImage(t, fmt.Sprintf("shot %02d", 29-n), uint8(100+n))
		}
		for sort, want := range map[string][2]string{
			"": {"shot 00", "quay"}, "&sort=oldest": {"quay", "shot 00"}, "&sort=name": {"boat", "shot 29"},
		} {
			first := b.open("/media?kind=image"+sort).shows(200, "Files 32", want[0]).lacks("Select " + want[1])
			first.follow("Next page").shows(200, want[1], "First page").lacks("Select "+want[0], "Next page")
		}
		b.open("/media").follow("By name").shows(200, "By name : change the order")
	})
}

// Selected files are moved together, and the page shows the result for each file.
func TestMoveSelectedFiles(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b := c.as(t, access.Editor)
		quay, boat, gone := mediaID(c.addImage(t, "quay", 10)), mediaID(c.addImage(t, "boat", 20)), mediaID(c.addImage(t, "gone", 30))
		theirs := mediaID(other.addImage(t, "theirs", 40))
		folder := strings.TrimPrefix(b.open("/media/folder").form("Create folder").fill("name", "Spring").press().path, "/media?folder=")
		list := b.open("/media?kind=image").form("Spring")
		b.open("/media/" + gone + "/delete").form("Delete file").press().shows(200)
		moved := list.fill("media", quay, boat, gone, theirs).press().
			shows(200, "quay Moved.", "boat Moved.", "Not changed: A file It no longer exists.").lacks("theirs")
		if moved.path != "/media?kind=image" {
			t.Errorf("redirected to %s", moved.path)
		}
		b.open("/media?folder="+folder).shows(200, "Files 2", "quay", "boat").lacks("Moved.")
		b.send(http.MethodPost, "/media/bulk", url.Values{"media": {quay}, "into": {"987"}}).shows(200, "Folder not found")
		b.open("/media").form("No folder").press().shows(200, "Select at least one file.")
		b.send(http.MethodPost, "/media/bulk", url.Values{"media": {quay}, "action": {"burn"}}).shows(200, "Choose what to do")
		if n := h.count(t, "media WHERE folder_id = ?", folder); n != 2 {
			t.Errorf("%d files in the folder", n)
		}
		other.as(t, access.Editor).open("/media/"+theirs).shows(200, "theirs")
		b.send(http.MethodPost, "/media/bulk", url.Values{"media": {quay}, "into": {"new"}}).
			shows(200, "New folder", "The selected file moves to the new folder.").
			form("Create folder").fill("name", "Made for it").press().
			shows(200, "Folder Made for it", "quay Moved.")
	})
}

// A new post can be started with the selected files.
func TestUseSelectedFiles(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		quay, boat := mediaID(c.addImage(t, "quay", 10)), mediaID(c.addImage(t, "boat", 20))
		b.open("/media").form("Use in a post").fill("media", boat, quay).press().
			shows(200, "boat", "quay").contains(`name="media" value="`+quay+`"`, `name="media" value="`+boat+`"`)
		b.open("/media/" + quay).follow("Use in a post").shows(200).contains(`name="media" value="` + quay + `"`)
	})
}

// Selected files are deleted after a confirmation. Files of scheduled posts are kept unless the person decides
// otherwise.
func TestDeleteSelectedFiles(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		free, used, sent := mediaID(c.addImage(t, "free", 10)), mediaID(c.addImage(t, "used", 20)), mediaID(c.addImage(t, "sent", 30))
		post := c.draft(t, "Goes out", h.apiTime(1<<42))
		c.callTool(t, "update_post", map[string]any{"id": post, "media_ids": []int64{int64(mustNumber(t, used))}})
		h.change(t, "UPDATE posts SET status = 'scheduled' WHERE id = ?", post)
		now := c.draft(t, "Is sent", "")
		c.callTool(t, "update_post", map[string]any{"id": now, "media_ids": []int64{int64(mustNumber(t, sent))}})
		h.change(t, "UPDATE posts SET status = 'processing' WHERE id = ?", now)

		ask := func() *page {
			return b.open("/media").form("Delete…").fill("media", free, used, sent).press()
		}
		ask().shows(200, "Delete 2 files", "These files stay", "sent", "Used in Goes out", "No post uses it.").
			form("Delete 2 files").press().shows(422, "Choose below what happens to the posts.")
		if n := h.count(t, "media"); n != 3 {
			t.Fatalf("%d files remain before the decision", n)
		}
		ask().form("Delete 2 files").fill("posts", "keep").press().
			shows(200, "free Deleted.", "Not changed: used This file is used by scheduled posts", "Files 2")
		b.open("/media").form("Delete…").fill("media", used).press().
			form("Delete 1 file").fill("posts", "take_out").press().shows(200, "used Deleted and removed from 1 post.", "Files 1")
		b.open("/posts/"+post).shows(200, "Planned for")
		b.open("/media").form("Delete…").fill("media", free).press().
			shows(200, "The selected files no longer exist.")
		sure := url.Values{"media": {sent}, "action": {"delete"}, "sure": {"yes"}, "posts": {"keep"}}
		b.send(http.MethodPost, "/media/bulk", sure).shows(200, "Not changed: sent A post with this file is being sent")
		if found, err := h.Media.Audit(t.Context()); err != nil || len(found) != 0 {
			t.Errorf("audit findings: %v (%v)", found, err)
		}
	})
}

// Deleting files lists the posts that wait for a client's approval.
func TestDeleteSelectedFilesOfApprovedPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := c.addImage(t, "quay", 10)
		id := c.draft(t, "For the client", "")
		c.callTool(t, "update_post", map[string]any{"id": id, "media_ids": []int64{int64(mustNumber(t, mediaID(at)))}})
		b.open("/posts/" + id).follow("Send for approval…").form("Create link").press().shows(200)
		b.open("/media").form("Delete…").fill("media", mediaID(at)).press().
			form("Delete 1 file").fill("posts", "take_out").press().
			shows(200, "quay Deleted and removed from 1 post. These posts need approval again: For the client").
			follow("For the client").shows(200, "The post has changed since it was sent to the client.")
	})
}

// The alternative texts of several images are saved together. Invalid texts are kept in the form.
func TestDescribeSelectedFiles(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		quay, boat := mediaID(c.addImage(t, "quay", 10)), mediaID(c.addImage(t, "boat", 20))
		film := fmt.Sprint(c.addVideo(t))
		chosen := b.open("/media?kind=").form("Alt text").fill("media", quay, boat, film).press().
			shows(200, "quay", "boat", "1 selected video has no alt text")
		texts := chosen.form("Save alt text").fill("alt-"+quay, "The quay.").fill("alt-"+boat, strings.Repeat("x", 1001))
		again := texts.press().shows(422, "1 text was not saved.", "1 text was saved.", "Alt text can have at most 1000 characters.")
		if got := again.form("Save alt text").values; got.Get("alt-"+quay) != "The quay." || len(got.Get("alt-"+boat)) != 1001 {
			t.Errorf("the input is lost: %v", got)
		}
		if n := strings.Count(again.source, `aria-invalid="true"`); n != 1 {
			t.Errorf("%d fields are marked as invalid", n)
		}
		b.open("/media/"+boat).form("Save").fill("alt", "A boat.").press().shows(200)
		changed := again.form("Save alt text").fill("alt-"+boat, "My boat.").press().
			shows(422, "Somebody else has changed this text to “A boat.”")
		changed.form("Save alt text").press().shows(200, "The alt text of 1 image was saved.")
		if n := h.count(t, "media WHERE alt IN ('The quay.', 'My boat.')"); n != 2 {
			t.Errorf("%d texts are stored", n)
		}
		b.open("/media/alt?media="+quay).form("Save alt text").press().shows(200, "No alt text was changed.")
		b.open("/media/alt?media="+film).shows(200, "Select at least one image.")

		// If the session ends in the meantime, the input is kept.
		form := b.open("/media/alt?media="+quay+"&media="+boat).form("Save alt text").fill("alt-"+quay, "Typed at length.")
		h.change(t, "DELETE FROM sessions WHERE person_id = ?", c.people[access.Editor].ID)
		again = form.press().shows(200, "Sign in").form("Sign in").fill("email", c.people[access.Editor].Email).
			fill("password", password).press().shows(200, "You are signed in again.", "quay", "boat")
		if got := again.form("Save alt text").values; got.Get("alt-"+quay) != "Typed at length." || got.Get("alt-"+boat) != "My boat." {
			t.Errorf("the input is lost: %v", got)
		}
		again.form("Save alt text").press().shows(200, "The alt text of 1 image was saved.")
	})
}
