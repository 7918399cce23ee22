package facebook_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// A video that Facebook keeps as a draft is neither published nor absent, because its owner may still share it. The
// error tells the owner to share the video.
func TestVideoStaysDraft(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "[sandbox:draft]", f.Library.Video(1000))
	if _, err := f.Commit(g, d); networktest.Class(err) != network.Processing {
		t.Errorf("the commit: %v", err)
	}
	for range 3 {
		verdict, _, err := f.Resolve(g, d)
		failed := networktest.WantClass(t, err, network.Processing, "processing")
		if verdict != network.Unknown || failed.Message != "Facebook keeps the video as a draft. Share it on Facebook." {
			t.Errorf("verdict %v, %+v", verdict, failed)
		}
		f.Clock.Advance(4 * time.Hour)
	}
	if got := f.Collect(g, networktest.Start.Add(-time.Hour), 10); len(got.Posts) != 0 {
		t.Errorf("posts %+v", got.Posts)
	}
}
