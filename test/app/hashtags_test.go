package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// createHashtagList creates a hashtag list as the owner and returns its path.
func (c *crew) createHashtagList(tb testing.TB, name string, tags ...string) string {
	tb.Helper()
	made := c.callTool(tb, "create_hashtag_list", map[string]any{"name": name, "platform": "instagram", "hashtags": tags})
	return fmt.Sprintf("/hashtags/%.0f", made["id"])
}

func TestHashtagLists(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/hashtags").shows(200, "No lists yet.", "Ready-made lists").mustBeSmall()
		form := b.open("/hashtags").follow("Create a list").form("Create list").fill("name", "Bar").
			fill("platform", "instagram").fill("color", "custom").fill("color_typed", "#12AB9F").
			fill("icon", "ri-cup-line").fill("hashtags", "#coffee, Latteart\r\nbad-one #espresso")
		made := form.press().
			shows(200, "The list was created. Added 3 hashtags. Rejected: “bad-one” (contains invalid characters).",
				"For Instagram", "#latteart", "#espresso")
		made.form("Use in a post").press().shows(200, "New post", "#coffee #latteart #espresso")
		b.open(made.path+"/use?hashtag=espresso&hashtag=coffee&hashtag=other").shows(200, "New post", "#coffee #espresso").
			lacks("#other", "#latteart")
		if used := b.open("/hashtags/8/use").text(); strings.Count(used, "#") != 30 {
			t.Errorf("a long list puts %d hashtags into a post", strings.Count(used, "#"))
		}
		if again := form.press(); again.path != made.path {
			t.Errorf("submitting twice created %s and %s", made.path, again.path)
		}
		b.open("/hashtags").shows(200, "Bar", "Instagram · 3 hashtags").lacks("There is no list yet")
		b.open("/hashtags?platform=tiktok&scope=own").shows(200, "No lists match.")
		b.open("/hashtags?scope=system").shows(200).lacks(">Bar<")
		b.open("/hashtags?scope=mine").shows(422)
		b.open("/hashtags?cursor=x").shows(422)

		// The search finds names and hashtags. Cards show the first hashtags.
		b.open("/hashtags?scope=own").shows(200, "#coffee #latteart #espresso")
		b.open("/hashtags").form("Filter").fill("q", "#LATTE").press().shows(200, "Bar", "Coffee and baking").lacks("Deutsch")
		b.open("/hashtags?q=bar&scope=own").shows(200, "Bar")
		b.open("/hashtags?q=100%25&scope=own").shows(200, "No lists match.")
		b.open("/hashtags?q=x&scope=mine").shows(422)

		made = b.open(made.path).form("Add").fill("hashtags", "coffee roast").fill("subcategory", "Craft").press().
			shows(200, "Added 1 hashtag. 1 was already in the list.", "4 hashtags", "Craft")
		if got := made.form("Filter").fill("group", "Craft").press().shows(200, "1 hashtag in Craft", "#roast").
			text(); strings.Contains(got, "#coffee") {
			t.Error("a list of another subcategory is shown")
		}
		sorted := made.follow("Hashtag").shows(200).text()
		if strings.Index(sorted, "#espresso") > strings.Index(sorted, "#latteart") {
			t.Errorf("lists are not sorted by name: %s", sorted)
		}
		b.open(made.path+"/text").shows(200, "#coffee #latteart #espresso #roast")
		b.open(made.path).form("Remove #latteart").press().shows(200, "#latteart was removed.", "3 hashtags")
		b.send(http.MethodPost, made.path+"/remove", url.Values{"hashtag": {"latteart"}}).shows(404)
		b.open(made.path).form("Remove #roast").press().shows(200, "#roast was removed.").form("Undo").press().
			shows(200, "Added 1 hashtag.", "3 hashtags")
		b.open(made.path+"?group=Craft").shows(200, "1 hashtag in Craft", "#roast")

		edit := b.open(made.path).follow("Rename").form("Save")
		if edit.values.Get("name") != "Bar" || edit.values.Get("color_typed") != "#12ab9f" || edit.values.Get("icon") != "ri-cup-line" {
			t.Errorf("form values = %v", edit.values)
		}
		edit.fill("color", "custom").fill("color_typed", "red").press().shows(422,
			"The field “Color” must be # and six hexadecimal digits.")
		edit.fill("color", "").fill("name", "Café <b>").press().shows(200, "The list was saved.", "Café <b>").lacks("<b>")
		again := b.open(made.path).follow("Rename").form("Save").fill("color", "#2f7dc4").
			fill("color_typed", "#000000").press()
		if !strings.Contains(again.source, `stroke="#2f7dc4"`) {
			t.Error("the icon does not have the chosen color")
		}
		copied := b.open(made.path).form("Duplicate").press().
			shows(200, "This is your copy of the list. Added 3 hashtags.", "Craft")
		if copied.path == made.path {
			t.Error("the copy has the path of the original")
		}
		copied.follow("Delete").shows(200, "The list and its 3 hashtags are deleted permanently.").form("Delete list").press().
			shows(200, "The hashtag list was deleted.")
		b.open(copied.path).shows(404)
		if n := h.count(t, "hashtag_lists WHERE team_id = ?", c.team.ID); n != 1 {
			t.Errorf("%d lists", n)
		}
	})
}

// Ready-made lists in the team's language come first, by theme and name.
func TestReadyMadeListOrder(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		text := h.crew(t).as(t, access.Editor).open("/hashtags").shows(200).text()
		at := -1
		for _, name := range []string{
			"Coffee and baking", "Pets", "Cars and motorcycles", "Other languages", "Bahasa Indonesia", "Deutsch",
		} {
			next := strings.Index(text, name)
			if next <= at {
				t.Errorf("%q is not after the lists before it", name)
			}
			at = next
		}
	})
}

func TestLongAndReadyMadeLists(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		tags := make([]string, 230)
		for i := range tags {
			tags[i] = fmt.Sprintf("tag%03d%s", i, strings.Repeat("ä", 40))
		}
		at := c.createHashtagList(t, "Long", tags...)
		b.open(at).mustBeSmall().shows(200, "#tag099").lacks("tag100").follow("Next page").shows(200, "#tag100").
			lacks("tag200").follow("Next page").mustBeSmall().shows(200, "#tag229").follow("First page").shows(200, "#tag000")
		b.open(at+"?sort=name&page=77").shows(200, "#tag229")

		ready := b.open("/hashtags?scope=system")
		var first string
		for d := range ready.doc.Descendants() {
			if href := attribute(d, "href"); strings.HasPrefix(href, "/hashtags/") && !strings.Contains(href,
				"new") && !strings.Contains(href, "search") && first == "" {
				first = href
			}
		}
		p := b.open(first).shows(200, "Ready-made", "Subcategory", "Copy the list to have them measured.").mustBeSmall()
		p.contains(`<ul class="chips"><li><label class="tag pick"><input type="checkbox" name="hashtag" value="`)
		p.lacks("/edit", "Remove", "Add hashtags")
		for _, action := range []string{"/edit", "/delete", "/remove", "/add"} {
			b.send(http.MethodPost, first+action,
				url.Values{
					"name": {"x"}, "hashtags": {"x"}, "once": {p.form("Copy to a team list").values.Get("once")},
				}).shows(422, "Ready-made lists cannot be changed.")
		}
		b.open(first+"/edit").shows(422, "cannot be changed")
		own := p.form("Copy to a team list").press().shows(200, "This is your copy of the list.", "Remove")
		if was, is := b.open(first+"/text").text(), b.open(own.path+"/text").text(); len(strings.Fields(was)) != len(strings.Fields(is)) {
			t.Errorf("the copy contains %q, want %q", is, was)
		}
		own.shows(200, "Subcategory")
	})
}

func TestHashtagSearch(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 100)
		b := c.as(t, access.Owner)
		f := b.open("/hashtags").follow("Search hashtags").shows(200, "Free if your team searched").
			form("Search (up to 3 credits)")
		f.fill("query", "https://example.com/x").press().shows(422, "This link is not a hashtag page")
		begun := f.p.b.open("/hashtags/search").form("Search (up to 3 credits)").fill("query", "latte art").press().
			shows(200, "Hashtags for")
		found := b.waitForText(begun.path, "Done").
			shows(200, "3 credits charged", "Hashtags for “ latte art ” on Instagram", "then other matches by score",
				"#latteart", "Your team has no lists yet.").mustBeSmall()
		fresh := found.form("Create list")
		fresh.press().shows(422, "Select the hashtags to add.")
		fresh.values["hashtag"] = []string{"latteart"}
		fresh.press().shows(422, "Enter a name for the new list.")
		fresh.fill("name", "Fresh").press().shows(200, "The list was created. Added 1 hashtag.", "Fresh", "For Instagram", "#latteart")
		at := c.createHashtagList(t, "Keep")
		found = b.open(begun.path)
		keep := found.form("Add to list")
		keep.press().shows(422, "Select the hashtags to add.")
		keep.values["hashtag"] = []string{"latteart", "latte"}
		keep.fill("list", strings.TrimPrefix(at, "/hashtags/")).fill("subcategory", "Found").press().
			shows(200, "Added 2 hashtags.", "Keep", "Found")
		if n := h.count(t, "hashtag_list_items WHERE list_id = ?", strings.TrimPrefix(at, "/hashtags/")); n != 2 {
			t.Errorf("%d hashtags in the list", n)
		}
		again := b.open("/hashtags/search").form("Search (up to 3 credits)").fill("query", "art LATTE").press()
		again.shows(200, "already paid for this keyword")
		b.waitForText(again.path, "Done").shows(200, "nothing was charged")

		poor := h.crew(t)
		poor.as(t, access.Owner).open("/hashtags/search").form("Search (up to 3 credits)").fill("query", "latte").
			press().shows(402, "credits")
		stranger := poor.as(t, access.Viewer)
		for _, path := range []string{begun.path, "/hashtags/search?job=x", "/hashtags/search?job=social_post:x"} {
			stranger.open(path).shows(404).lacks("latteart")
		}
		viewer := c.as(t, access.Viewer)
		viewer.open(begun.path).shows(200, "#latteart").lacks("Add to list")
		viewer.open("/hashtags/search").shows(200, "which your role cannot spend", "Recent searches")
		if got := strings.Count(b.open("/hashtags/search").source, "/hashtags/search?job="); got != 1 { // the same words
			t.Errorf("%d recent searches", got)
		}
		stranger.open("/hashtags/search").shows(200).lacks("Recent searches")
		c.as(t, access.Editor).send(http.MethodPost, "/hashtags/search", url.Values{"query": {"x"}}).shows(403)
		viewer.send(http.MethodPost, "/hashtags/search/add", url.Values{"hashtag": {"x"}}).shows(403)
		h.browser(t).open(begun.path).shows(200, "Sign in").lacks("latteart")
	})
}

// waitForText reloads a page until it shows a text, and returns the page.
func (b *browser) waitForText(path, want string) *page {
	b.t.Helper()
	for ends := time.Now().Add(60 * time.Second); ; {
		p := b.open(path)
		if strings.Contains(p.text(), want) {
			return p
		}
		if time.Now().After(ends) {
			b.t.Fatalf("%s does not show %q: %s", path, want, p.text())
		}
	}
}

func TestHashtagListPermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		at := c.createHashtagList(t, "Ours alone", "slipway")
		pages := []string{"/hashtags/new", at + "/edit", at + "/delete"}
		actions := []string{"/hashtags/new", at + "/add", at + "/remove", at + "/copy", at + "/edit", at + "/delete"}
		viewer, stranger, signedOut := c.as(t, access.Viewer), other.as(t, access.Owner), h.browser(t)
		viewer.open("/hashtags").shows(200, "Ours alone").lacks("New list")
		viewer.open(at).shows(200, "#slipway").lacks("Remove", "Copy to", "Add hashtags")
		viewer.open(at+"/text").shows(200, "#slipway")
		once := stranger.open("/hashtags/new").form("Create list").values.Get("once")
		for _, path := range append([]string{"/hashtags", at, at + "/text"}, pages...) {
			signedOut.open(path).shows(200, "Sign in").lacks("slipway", "Ours alone")
		}
		for _, path := range append([]string{at, at + "/text"}, pages[1:]...) {
			stranger.open(path).shows(404, "This page doesn’t exist").lacks("slipway", "Ours alone")
		}
		for _, path := range pages {
			viewer.open(path).shows(403)
		}
		for _, path := range actions {
			form := url.Values{"name": {"Mine"}, "hashtags": {"x"}, "hashtag": {"slipway"}, "once": {once}}
			viewer.send(http.MethodPost, path, form).shows(403)
			signedOut.send(http.MethodPost, path, form).shows(200, "Sign in")
			if path != "/hashtags/new" {
				stranger.send(http.MethodPost, path, form).shows(404).lacks("slipway", "Ours alone")
			}
		}
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, other.people[access.Editor].ID, access.Editor))
		other.as(t, access.Editor).open(at).shows(200, "You switched to the team", "#slipway")
		if n := h.count(t, "hashtag_list_items"); n != 1 {
			t.Errorf("%d hashtags remain", n)
		}
	})
}

// Ready-made lists are grouped by theme. The search page shows an example until the team has searched.
func TestHashtagPages(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		b := h.crew(t).as(t, access.Editor)
		text := b.open("/hashtags").shows(200).text()
		for list, theme := range map[string]string{"Pets": "Food and home", "Fashion": "Style and health", "Weddings": "Occasions"} {
			if begin := strings.Index(text, theme); begin < 0 || strings.Index(text, list) < begin {
				t.Errorf("%s is not below %s", list, theme)
			}
		}
		b.open("/hashtags/search").shows(200, "Sample results", "#latteart about 12.4M Very large")
	})
}

// The form for a new list suggests hashtags at the end of long texts. It works even if the posts cannot be read.
func TestNewListSuggestions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		c.draft(t, strings.Repeat("On the bar. ", 11)+"#coffeeshop", "") // the excerpt ends in the hashtag
		b.open("/hashtags/new").shows(200, "From your posts", "#coffeeshop")
		must.Get(h.db.Writer().ExecContext(t.Context(), `ALTER TABLE posts RENAME COLUMN caption TO caption_gone`))(t)
		b.open("/hashtags/new").shows(200, "New hashtag list").lacks("From your posts").
			form("Create list").fill("name", "Bar").fill("hashtags", "coffee").press().shows(200, "The list was created.")
	})
}
