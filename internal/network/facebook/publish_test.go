package facebook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	text := "text https://example.org/?a=b https://example.com"
	f.Publish(g, f.MustPrepare(g, text))
	want := map[string][]string{"access_token": {g.Access}, "message": {text}, "link": {"https://example.org/?a=b"}}
	if diff := cmp.Diff(want, map[string][]string(f.Wire.Requests("/feed")[0].Params())); diff != "" {
		t.Error(diff)
	}
	f.Publish(g, f.MustPrepare(g, "", image(f.Library)...))
	f.Publish(g, f.MustPrepare(g, "", film(f.Library)...))
	photo := f.Wire.Requests("/photos")[0].Params()
	if photo.Get("published") != "false" || photo.Get("alt_text_custom") != "dots" || photo.Has("message") {
		t.Errorf("photo %v", photo)
	}
	var chunks []string
	for _, r := range f.Wire.Requests("/videos") {
		params := r.Params()
		chunks = append(chunks,
			params.Get("upload_phase")+" "+params.Get("start_offset")+" "+params.Get("video_file_chunk"))
	}
	if diff := cmp.Diff([]string{
		"start  ", "transfer 0 1048576", "transfer 1048576 1048576", "transfer 2097152 502872", "finish  ",
	}, chunks); diff != "" {
		t.Error(diff)
	}
	f.WantPosts(3)
}

// Requests for parts other than the next, or for none, end the upload.
func TestUploadOutOfOrder(t *testing.T) {
	t.Parallel()
	const begun = `{"video_id":"15001","upload_session_id":"16001",`
	for name, c := range map[string][2]string{
		"a gap":      {begun + `"start_offset":"5","end_offset":"9"}`, ``},
		"too far":    {begun + `"start_offset":"0","end_offset":"99999999999"}`, ``},
		"nothing":    {begun + `"start_offset":"0","end_offset":"0"}`, ``},
		"below zero": {begun + `"start_offset":"0","end_offset":"-1"}`, ``},
		"once more":  {begun + `"start_offset":"0","end_offset":"9"}`, `{"start_offset":"0","end_offset":"9"}`},
		"no more":    {begun + `"start_offset":"0","end_offset":"9"}`, `{}`},
		"no video":   {`{"upload_session_id":"16001","start_offset":"0","end_offset":"9"}`, ``},
		"no session": {`{"video_id":"15001","start_offset":"0","end_offset":"9"}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := networktest.NewStub(t, adapter, network.App{}, answering(func(r *http.Request) string {
				if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
					if _, _, err := r.FormFile("video_file_chunk"); err != nil {
						t.Error(err)
					}
					return c[1]
				}
				return c[0]
			}))
			_, _, err := s.Network.Prepare(t.Context(), s.Grant, network.Draft(plannedVideo), s.Library)
			networktest.WantClass(t, err, network.Transient, "")
		})
	}
}

// Published photos are not published again.
func TestDuplicatePhotos(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "photos", image(f.Library)...)
	f.Publish(g, d)
	_, err := f.Commit(g, d)
	networktest.WantClass(t, err, network.Duplicate, "100/1366051")
}

// A post with the same text from before the draft belongs to another publication. Two later ones are ambiguous.
func TestOlderTwin(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Publish(g, f.MustPrepare(g, "daily", image(f.Library)...))
	f.Clock.Advance(2 * time.Minute)
	d := f.MustPrepare(g, "daily", image(f.Library)...)
	receipt := f.Publish(g, d)
	verdict, found, err := f.Resolve(g, d)
	if err != nil || verdict != network.Published || found.ID != receipt.ID {
		t.Errorf("verdict %v, %+v, %v", verdict, found, err)
	}
	f.Publish(g, f.MustPrepare(g, "daily", image(f.Library)...))
	verdict, _, err = f.Resolve(g, d)
	if networktest.WantClass(t, err, network.Uncertain, ""); verdict != network.Unknown {
		t.Errorf("two posts: verdict %v", verdict)
	}
}

// A limited list is marked as truncated.
func TestCollectTruncated(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	for _, text := range []string{"one", "two", "three"} {
		f.Post(g, text)
	}
	if few := f.Collect(g, networktest.Start, 2); len(few.Posts) != 2 || !few.Truncated {
		t.Errorf("%+v", few)
	}
}

func TestPermalinkOfInvalidID(t *testing.T) {
	t.Parallel()
	n := adapter.New("https://network.test", network.App{})
	_, err := n.Permalink(t.Context(), network.Grant{}, network.Receipt{ID: "../me"})
	networktest.WantClass(t, err, network.Rejected, "")
}
