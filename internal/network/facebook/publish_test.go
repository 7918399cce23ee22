package facebook_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	text := "text https://example.org/?a=b https://example.com"
	f.Publish(g, f.MustPrepare(g, text))
	want := map[string][]string{"access_token": {g.AccessToken}, "message": {text}, "link": {"https://example.org/?a=b"}}
	sent := f.Transport.Requests("/feed")[0].Params()
	sent.Del("appsecret_proof")
	if diff := cmp.Diff(want, map[string][]string(sent)); diff != "" {
		t.Error(diff)
	}
	f.Publish(g, f.MustPrepare(g, "", image(f.Library)...))
	f.Publish(g, f.MustPrepare(g, "", film(f.Library)...))
	photo := f.Transport.Requests("/photos")[0].Params()
	if photo.Get("published") != "false" || photo.Get("alt_text_custom") != "dots" || photo.Has("message") {
		t.Errorf("photo %v", photo)
	}
	var chunks []string
	for _, r := range f.Transport.Requests("/videos") {
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

// The upload fails if Facebook requests a part other than the next one, or no part.
func TestUploadOutOfOrder(t *testing.T) {
	t.Parallel()
	const started = `{"video_id":"15001","upload_session_id":"16001",`
	for name, c := range map[string][2]string{
		"a gap":      {started + `"start_offset":"5","end_offset":"9"}`, ``},
		"too far":    {started + `"start_offset":"0","end_offset":"99999999999"}`, ``},
		"nothing":    {started + `"start_offset":"0","end_offset":"0"}`, ``},
		"below zero": {started + `"start_offset":"0","end_offset":"-1"}`, ``},
		"once more":  {started + `"start_offset":"0","end_offset":"9"}`, `{"start_offset":"0","end_offset":"9"}`},
		"no more":    {started + `"start_offset":"0","end_offset":"9"}`, `{}`},
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

// A post with the same text that is older than the draft belongs to another publication. Two later posts are ambiguous.
func TestOlderDuplicate(t *testing.T) {
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
	if networktest.WantClass(t, err, network.OutcomeUnknown, ""); verdict != network.Unknown {
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

// If Facebook rejects a list as too large, it is read in smaller pages.
func TestTooMuchData(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	for i := range 8 {
		f.Post(g, fmt.Sprintf("large %d [sandbox:too-much-data]", i))
	}
	d := f.MustPrepare(g, "mine")
	receipt := f.Publish(g, d)
	if got := f.Collect(g, networktest.Start.Add(-time.Hour), 500); len(got.Posts) != 9 || got.Truncated {
		t.Errorf("%d posts, truncated %v", len(got.Posts), got.Truncated)
	}
	verdict, found, err := f.Resolve(g, d)
	if err != nil || verdict != network.Published || found.ID != receipt.ID {
		t.Errorf("verdict %v, %+v, %v", verdict, found, err)
	}
}

// Meta responds with status 500 to a list of a large Page. Metrics and the outcome of a post are read in smaller lists.
func TestTooMuchDataStatus(t *testing.T) {
	t.Parallel()
	var limits []string
	s := networktest.NewStub(t, adapter, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil { // not a list
			_, _ = fmt.Fprint(w, `{"id":"10001"}`)
			return
		}
		if limits = append(limits, r.FormValue("limit")); limit > 25 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprint(w, graph(`"message":"Please reduce the amount of data you're asking for, then retry your request",
				"type":"OAuthException","code":1`))
			return
		}
		_, _ = fmt.Fprint(w, `{"data":[{"id":"10_1","message":"x","created_time":"2026-11-21T09:00:01+0000"}]}`)
	}))
	verdict, receipt, err := s.Network.Resolve(t.Context(), s.Grant, network.Draft(readyText), network.CommitHistory{})
	if err != nil || verdict != network.Published || receipt.ID != "10_1" {
		t.Errorf("verdict %v, %+v, %v", verdict, receipt, err)
	}
	got, err := s.Network.(network.Collector).Collect(t.Context(), s.Grant, networktest.Start.Add(-time.Hour), 100)
	if err != nil || len(got.Posts) != 1 {
		t.Errorf("posts %+v, %v", got.Posts, err)
	}
	if diff := cmp.Diff([]string{"100", "50", "25", "100", "50", "25"}, limits); diff != "" {
		t.Error(diff)
	}
}

// Resolve fails if even the smallest page is rejected. Otherwise it reads the list to its end in small pages.
func TestSmallLists(t *testing.T) {
	t.Parallel()
	for most, class := range map[int]network.ErrorClass{0: network.Transient, 1: "", 3: "", 100: ""} {
		var limits []string
		s := networktest.NewStub(t, adapter, network.App{}, answering(func(r *http.Request) string {
			limits = append(limits, r.FormValue("limit"))
			if limit, _ := strconv.Atoi(r.FormValue("limit")); limit > most {
				return graph(`"code":1,"message":"Please reduce the amount of data you're asking for, then retry your request"`)
			}
			page, _ := strconv.Atoi(r.FormValue("after"))
			if page == 4 {
				return `{"data":[{"id":"10_1","message":"x","created_time":"2026-11-21T09:00:01+0000"}]}`
			}
			return fmt.Sprintf(`{"data":[{"id":"10_2%d","message":"y","created_time":"2026-11-21T09:00:02+0000"}],
				"paging":{"next":"https://elsewhere.test/","cursors":{"after":"%d"}}}`, page, page+1)
		}))
		verdict, receipt, err := s.Network.Resolve(t.Context(), s.Grant, network.Draft(readyText), network.CommitHistory{})
		if networktest.Class(err) != class || (verdict == network.Published) != (class == "") ||
			class == "" && receipt.ID != "10_1" {
			t.Errorf("at most %d: verdict %v, %+v, %v after %v", most, verdict, receipt, err, limits)
		}
	}
}

// If there are more posts than Resolve reads, a post that is not found is neither published nor absent. A matching post
// of another publication does not change that.
func TestTooManyPosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		at      string
		others  []string
	}{
		"no match":                           {"y", "09:00:02", nil},
		"only another's":                     {"x", "09:00:02", []string{"10_2"}},
		"only an older match":                {"x", "08:59:00", nil},
		"older match of another publication": {"x", "08:59:00", []string{"10_2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := 0
			s := networktest.NewStub(t, adapter, network.App{}, answering(func(*http.Request) string {
				page++
				post := `{"id":"10_2","message":"` + c.message + `","created_time":"2026-11-21T` + c.at + `+0000"},`
				return fmt.Sprintf(`{"data":[%s],"paging":{"next":"https://elsewhere.test/","cursors":{"after":"%d"}}}`,
					strings.TrimSuffix(strings.Repeat(post, 100), ","), page)
			}))
			history := network.CommitHistory{OtherPosts: c.others}
			verdict, _, err := s.Network.Resolve(t.Context(), s.Grant, network.Draft(readyText), history)
			if networktest.WantClass(t, err, network.OutcomeUnknown, ""); verdict != network.Unknown {
				t.Errorf("verdict %v", verdict)
			}
		})
	}
}

// A Page has no picture if Facebook returns a silhouette.
func TestCollectWithoutPicture(t *testing.T) {
	t.Parallel()
	for body, none := range map[string]bool{
		`{"picture":{"data":{"url":"https://cdn.test/1","is_silhouette":true}}}`:  true,
		`{"picture":{"data":{"url":"https://cdn.test/1","is_silhouette":false}}}`: false,
		`{"followers_count":1}`: false,
	} {
		s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Body: body})
		got, err := s.Network.(network.Collector).Collect(t.Context(), s.Grant, networktest.Start, 10)
		if err != nil || got.NoPicture != none || none && got.Picture != "" {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}
