package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// readPages reads all pages of a list and returns a member of each item. Over REST, it checks that the Link header
// has the same query and the cursor. It calls between after the first page.
func (w *env) readPages(call edgeCall, tool string, args map[string]any, list, member string, between func()) []string {
	w.t.Helper()
	out := []string{}
	for pages := 0; ; pages++ {
		got := call(full(w), tool, args, "")
		got.mustBe(w.t, http.StatusOK)
		for i := range got.list(list) {
			out = append(out, got.text(fmt.Sprintf("%s.%d.%s", list, i, member)))
		}
		cursor, next := got.text("page.cursor"), got.header.Get("Link")
		if got.at("page") == nil {
			if next != "" {
				w.t.Errorf("a Link without a page: %s", next)
			}
			return out
		}
		if got.at("page.has_more") != true || len(got.list(list)) == 0 || pages > 50 {
			w.t.Fatalf("a page without a usable cursor: %s", got.raw)
		}
		if next != "" {
			w.mustHaveNextLink(next, cursor, args)
		}
		if pages == 0 && between != nil {
			between()
		}
		args = mergeArgs(args, map[string]any{"cursor": cursor})
	}
}

// mustHaveNextLink checks that a Link header has the same query and the cursor.
func (w *env) mustHaveNextLink(header, cursor string, args map[string]any) {
	w.t.Helper()
	address, rel, _ := strings.Cut(strings.TrimPrefix(header, "<"), ">")
	next := must.Get(url.Parse(address))(w.t)
	want := url.Values{"cursor": {cursor}}
	for name, value := range args {
		if name != "cursor" && name != "job_id" {
			want.Set(name, fmt.Sprint(value))
		}
	}
	if rel != `; rel="next"` || !strings.HasPrefix(address, w.base+"/") || next.Query().Encode() != want.Encode() {
		w.t.Errorf("Link: %s, want the query %s", header, want.Encode())
	}
}

// For every filter and page size, the library lists each item once, newest first, even while files are added.
func TestMediaPaging(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		spring := w.addFolder("Spring")
		for i := range 4 {
			w.addFiles(spring*int64(i%2), aPNG(fmt.Sprint("picture ", i)), aJPEG(fmt.Sprint("photo ", i)))
		}
		w.addFiles(spring, aVideo(t, "clip.mp4"))
		w.stranger().addFiles(0, aPNG("picture of others"))
		pages := func(call edgeCall, args map[string]any, between func()) []string {
			return w.readPages(call, "list_media", args, "data.media", "name", between)
		}
		added := 0
		for name, filter := range map[string]map[string]any{
			"all": {}, "a kind": {"kind": "image"}, "a folder": {"folder_id": spring}, "no folder": {"folder_id": 0},
			"a query":             {"query": "photo"},
			"a folder and a kind": {"folder_id": spring, "kind": "image"},
			"all filters":         {"folder_id": spring, "kind": "image", "query": "p"},
		} {
			whole := pages(w.rest, mergeArgs(filter, map[string]any{"limit": 50}), nil)
			if unique := slices.Compact(slices.Sorted(slices.Values(whole))); len(whole) < 3 ||
				len(unique) != len(whole) || slices.Contains(whole, "picture of others") {
				t.Fatalf("%s: %v", name, whole)
			}
			for _, limit := range []int{1, 2, 3, len(whole)} {
				for _, call := range []edgeCall{w.rest, w.tool} {
					if got := pages(call, mergeArgs(filter, map[string]any{"limit": limit}), nil); !slices.Equal(got, whole) {
						t.Errorf("%s with limit %d: %v, want %v", name, limit, got, whole)
					}
				}
			}
			more := func() { added++; w.addFiles(spring, aPNG(fmt.Sprint("photo in between ", added))) }
			if got := pages(w.rest, mergeArgs(filter, map[string]any{"limit": 2}), more); !slices.Equal(got, whole) {
				t.Errorf("%s while a file is added: %v, want %v", name, got, whole)
			}
		}
	})
}

// A cursor of the library is valid only for its team and filters.
func TestMediaCursors(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		w.addFiles(w.addFolder("Spring"), aPNG("a"), aPNG("b"), aPNG("c"))
		spring := map[string]any{"folder_id": w.addFolder("Spring"), "kind": "image", "limit": 1}
		cursor := w.full("list_media", spring).text("page.cursor")
		with := func(more map[string]any) map[string]any {
			return mergeArgs(mergeArgs(spring, map[string]any{"cursor": cursor}), more)
		}
		other := w.stranger()
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "list_media", with(map[string]any{"limit": 50}), "").
				mustHave(t, map[string]any{"data.media.0.name": "b", "data.media.1.name": "a"})
			for name, got := range map[string]answer{
				"with another kind": call(full(w), "list_media", with(map[string]any{"kind": "video"}), ""),
				"with a query":      call(full(w), "list_media", with(map[string]any{"query": "a"}), ""),
				"in no folder":      call(full(w), "list_media", with(map[string]any{"folder_id": 0}), ""),
				"without filters":   call(full(w), "list_media", map[string]any{"cursor": cursor}, ""),
				"of another list":   call(full(w), "list_posts", map[string]any{"cursor": cursor}, ""),
				"of another team":   call(full(other), "list_media", map[string]any{"cursor": cursor}, ""),
				"changed":           call(full(w), "list_media", with(map[string]any{"cursor": swapCharacters(cursor)}), ""),
			} {
				if got.mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "invalid_cursor"); t.Failed() {
					t.Fatalf("cursor %s", name)
				}
			}
		}
	})
}
