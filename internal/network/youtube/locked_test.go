package youtube_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit"
)

// A retry of a video that YouTube keeps private reads its status. It uploads the video again only after a person has
// deleted it.
func TestRetryLockedVideo(t *testing.T) {
	t.Parallel()
	const private, public = `"uploadStatus":"processed","privacyStatus":"private"`, `"uploadStatus":"processed","privacyStatus":"public"`
	for name, c := range map[string]struct {
		listed string // status of the listed video; empty if it is not listed
		later  time.Duration
		class  network.ErrorClass // of the error of Prepare
		wait   bool
	}{
		"still locked":      {listed: private, later: time.Hour, class: network.AppNotApproved},
		"made public":       {listed: public, later: time.Hour},
		"not listed yet":    {later: time.Second, wait: true},
		"missing":           {later: time.Hour, wait: true},
		"rejected by now":   {listed: `"uploadStatus":"rejected","rejectionReason":"copyright"`, class: network.Rejected},
		"processing by now": {listed: `"uploadStatus":"uploaded","privacyStatus":"public"`, wait: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, uploads := testkit.NewClock(networktest.Start), 0
			app := network.App{Now: clock.Now, ListingDelay: network.Duration(time.Minute)}
			status := statusServer(private, c.listed)
			s := networktest.NewStub(t, adapter, app, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					status(w, r)
					return
				}
				uploads++
				w.Header().Set("Location", "http://"+r.Host+"/new?upload_id=2")
			}))
			_, err := s.Network.Commit(t.Context(), s.Grant, s.Draft(queriedDraft), s.Library)
			locked := networktest.WantClass(t, err, network.AppNotApproved, "privacyStatus")
			if locked.Hidden.ID != "video1" || locked.Hidden.Permalink != s.URL+"/web/watch?v=video1" {
				t.Fatalf("hidden post %+v", locked.Hidden)
			}
			clock.Advance(c.later)
			d, wait, err := s.Network.Prepare(t.Context(), s.Grant, locked.Draft, s.Library)
			if networktest.Class(err) != c.class || wait > 0 != c.wait || uploads != 0 {
				t.Fatalf("wait %v, error %v, %d uploads", wait, err, uploads)
			}
			if c.listed != public {
				return
			}
			receipt, err := s.Network.Commit(t.Context(), s.Grant, d, s.Library)
			if err != nil || receipt.ID != "video1" || uploads != 0 {
				t.Errorf("receipt %+v, error %v, %d uploads", receipt, err, uploads)
			}
		})
	}
}

// A locked video counts as deleted after it was missing for five minutes. It is uploaded again only after that.
func TestUploadDeletedVideoAgain(t *testing.T) {
	t.Parallel()
	clock, uploads := testkit.NewClock(networktest.Start), 0
	status := statusServer(`"uploadStatus":"processed","privacyStatus":"private"`, "")
	s := networktest.NewStub(t, adapter, network.App{Now: clock.Now, ListingDelay: network.Duration(time.Minute)},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				status(w, r)
				return
			}
			uploads++
			w.Header().Set("Location", "http://"+r.Host+"/new?upload_id=2")
		}))
	_, err := s.Network.Commit(t.Context(), s.Grant, s.Draft(queriedDraft), s.Library)
	d := networktest.WantClass(t, err, network.AppNotApproved, "privacyStatus").Draft
	clock.Advance(time.Hour)
	for _, want := range []int{0, 0, 1} {
		if d, _, err = s.Network.Prepare(t.Context(), s.Grant, d, s.Library); err != nil || uploads != want {
			t.Errorf("error %v, %d uploads, want %d", err, uploads, want)
		}
		clock.Advance(150 * time.Second)
	}
}

// If a locked video is deleted before Resolve reads its status, the verdict is Absent, and a retry uploads it again.
func TestResolveDeletedVideo(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(networktest.Start)
	s := networktest.NewStub(t, adapter, network.App{Now: clock.Now, ListingDelay: network.Duration(time.Minute)},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				_, _ = fmt.Fprint(w, `{"id":"video1","status":{"uploadStatus":"processed","privacyStatus":"private"}}`)
				return
			}
			_, _ = fmt.Fprint(w, `{"items":[]}`)
		}))
	_, err := s.Network.Commit(t.Context(), s.Grant, s.Draft(queriedDraft), s.Library)
	locked := networktest.WantClass(t, err, network.AppNotApproved, "privacyStatus")
	clock.Advance(time.Hour)
	verdict, _, err := s.Network.Resolve(t.Context(), s.Grant, locked.Draft, network.CommitHistory{})
	if networktest.WantClass(t, err, network.Transient, "video_deleted"); verdict != network.Absent {
		t.Errorf("verdict %v", verdict)
	}
}

// However often a post is retried, the sandbox has only one locked video.
func TestSandboxKeepsOneLockedVideo(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	_, err := f.Commit(g, f.PrepareUsual(g, "[sandbox:unapproved]"))
	d := networktest.WantClass(t, err, network.AppNotApproved, "privacyStatus").Draft
	for range 2 {
		_, err = f.Prepare(g, d)
		d = networktest.WantClass(t, err, network.AppNotApproved, "privacyStatus").Draft
	}
	f.WantPosts(1)
}
