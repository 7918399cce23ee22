package networktest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Containers describes a network with Meta's media containers.
type Containers struct {
	NotReady string // code of the error for a container in progress
}

func testContainers(t *testing.T, c Case) {
	if c.Containers.NotReady != "" {
		subtests(t, c,
			map[string]func(*testing.T, Case){"NotReady": commitUnready, "FailedDownload": publishAfterFailedDownload,
				"Twins": publishTwins})
	}
}

// commitUnready commits a container in progress.
func commitUnready(t *testing.T, c Case) {
	f := New(t, c, 10*time.Second)
	g := f.Grant()
	d, wait, err := f.Network().Prepare(t.Context(), g, f.Plan("soon", f.Media()...), f.Library)
	if err != nil || wait <= 0 {
		t.Fatalf("wait %v, %v", wait, err)
	}
	_, err = f.Commit(g, d)
	if netErr := WantClass(t, err, network.Processing, c.Containers.NotReady); !netErr.RetryAt.After(Start) {
		t.Errorf("not before %v", netErr.RetryAt)
	}
	verdict, _, err := f.Resolve(g, d)
	_ = WantClass(t, err, network.Processing, "")
	if verdict != network.Unknown {
		t.Errorf("verdict %v", verdict)
	}
	f.Clock.Advance(10 * time.Second)
	if verdict, _, err = f.Resolve(g, d); verdict != network.Absent || err != nil {
		t.Errorf("verdict %v, %v", verdict, err)
	}
	f.WantPosts(0)
}

// publishAfterFailedDownload prepares a video whose first download fails.
func publishAfterFailedDownload(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	film := f.Library.Remove(f.Library.Video(20_000), true)
	d, wait, err := f.Network().Prepare(t.Context(), g, f.Plan("", film), f.Library)
	if err != nil || wait == 0 {
		t.Fatalf("wait %v, %v", wait, err)
	}
	f.Library.Remove(film, false)
	if d, err = f.Prepare(g, d); err != nil {
		t.Fatal(err)
	}
	f.Publish(g, d)
	f.WantShown("", []network.Media{film})
}

// publishTwins publishes the same text twice. Resolve must identify the second post if the first is an hour older. It
// cannot distinguish two posts from the same time.
func publishTwins(t *testing.T, c Case) {
	for interval, identified := range map[time.Duration]bool{0: false, time.Hour: true} {
		f := New(t, c, 0)
		g := f.Grant()
		f.Publish(g, f.PrepareUsual(g, "twin"))
		f.Clock.Advance(interval)
		d := f.PrepareUsual(g, "twin")
		second := f.Publish(g, d)
		verdict, receipt, err := f.Resolve(g, d)
		if err != nil || verdict != network.Published || (receipt.ID == second.ID) != identified ||
			(receipt.ID == "") == identified {
			t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
		}
		f.WantPosts(2)
	}
}

// ListHandler returns a handler that responds with postsBody to paths with the suffix, and with otherBody to all
// other paths. The status is 400 if the body is one of Meta's errors.
func ListHandler(suffix, postsBody, otherBody string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := StubResponse{Body: otherBody}
		if strings.HasSuffix(r.URL.Path, suffix) {
			response.Body = postsBody
		}
		if strings.HasPrefix(response.Body, `{"error"`) {
			response.Status = http.StatusBadRequest
		}
		response.ServeHTTP(w, r)
	})
}
