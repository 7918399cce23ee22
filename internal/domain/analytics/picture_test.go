package analytics_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// pictureServer returns profile pictures by URL.
type pictureServer struct {
	content map[string][]byte
	fetched []string
}

func (f *pictureServer) fetch(_ context.Context, platform, url string, limit int64, into io.Writer) error {
	f.fetched = append(f.fetched, platform+" "+url)
	content, ok := f.content[url]
	if !ok || int64(len(content)) > limit {
		return errors.New("scripted error")
	}
	_, err := into.Write(content)
	return err
}

func square(t *testing.T, side int) []byte {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, jpeg.Encode(&out, image.NewGray(image.Rect(0, 0, side, side)), nil))
	return out.Bytes()
}

// fetchPicturesFrom makes runs fetch pictures from f.
func (w *env) fetchPicturesFrom(f *pictureServer) {
	w.options.FetchPicture = f.fetch
	w.service = analytics.New(w.db, w.accounts, w.options)
}

// setPicture makes the network return a picture URL, with an error if err is not nil.
func (w *env) setPicture(url string, err error) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.onCollect = func(collectCall) (network.Collection, error) { return network.Collection{Picture: url}, err }
}

// setNoPicture makes the network report that the account has no picture.
func (w *env) setNoPicture() {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.onCollect = func(collectCall) (network.Collection, error) { return network.Collection{NoPicture: true}, nil }
}

func (w *env) picture(id int64) analytics.Picture {
	w.t.Helper()
	return must.Get(w.service.Picture(w.t.Context(), w.team, id))(w.t)
}

// A run stores the account's picture as a thumbnail. It is fetched again at most once a day, and only if its URL
// changed.
func TestPicture(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		f := &pictureServer{content: map[string][]byte{"https://cdn/1": square(w.t, 600), "https://cdn/2": square(w.t, 50)}}
		w.fetchPicturesFrom(f)
		id := w.connectHarbour()
		w.setPicture("https://cdn/1", nil)
		w.collectAfter(0, 1)
		got := w.picture(id)
		config, _, err := image.DecodeConfig(bytes.NewReader(got.Image))
		if err != nil || got.Type != "image/jpeg" || config.Width != 128 || config.Height != 128 || got.Username != "harbour" {
			w.t.Fatalf("%s of %v, %v", got.Type, config, err)
		}
		w.collectAfter(2*day, 2)
		w.setPicture("https://cdn/2", nil)
		w.collectAfter(runInterval, 3)
		if len(f.fetched) != 2 || f.fetched[0] != "instagram https://cdn/1" {
			w.t.Errorf("fetched %v", f.fetched)
		}
		w.setPicture("https://cdn/1", nil)
		w.collectAfter(runInterval, 4)
		if config, _, err := image.DecodeConfig(bytes.NewReader(w.picture(id).Image)); err != nil || config.Width != 50 ||
			len(f.fetched) != 2 {
			w.t.Errorf("fetched %v, has %v, %v", f.fetched, config, err)
		}
	})
}

// A picture is deleted if the network reports that the account has no picture. It is kept if the network reports
// nothing.
func TestRemovePicture(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.fetchPicturesFrom(&pictureServer{content: map[string][]byte{"https://cdn/1": square(w.t, 20)}})
		id := w.connectHarbour()
		w.setPicture("https://cdn/1", nil)
		w.collectAfter(0, 1)
		w.setPicture("", nil)
		w.collectAfter(runInterval, 2)
		if w.picture(id).Type == "" {
			w.t.Error("the picture was deleted")
		}
		w.setNoPicture()
		w.collectAfter(runInterval, 3)
		if got := w.picture(id); got.Type != "" || got.Image != nil || got.Name == "" {
			w.t.Errorf("%+v", got)
		}
		w.setPicture("https://cdn/1", nil)
		w.collectAfter(runInterval, 4)
		if w.picture(id).Type == "" {
			w.t.Error("a new picture is not stored")
		}
	})
}

// A file that is not an image or cannot be fetched does not fail the run. A picture is stored even if the metrics fail.
func TestPictureFailures(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		f := &pictureServer{content: map[string][]byte{"https://cdn/page": []byte("<html>"), "https://cdn/1": square(w.t, 20)}}
		w.fetchPicturesFrom(f)
		id := w.connectHarbour()
		for i, url := range []string{"https://cdn/page", "https://cdn/none", ""} {
			w.setPicture(url, nil)
			w.collectAfter(runInterval, i+1)
			if got := w.picture(id); got.Type != "" || got.Name == "" {
				w.t.Errorf("%s: %+v", url, got)
			}
		}
		w.setPicture("https://cdn/1", &network.Error{Class: network.AppNotApproved, Err: errors.New("scripted error")})
		w.collectAfter(runInterval, 4)
		if got := w.picture(id); got.Type != "image/jpeg" || got.FetchedAt.Before(start) {
			w.t.Errorf("%+v", got)
		}
	})
}

// Other teams cannot see the picture. Disconnecting the account deletes it.
func TestDisconnectDeletesPicture(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.fetchPicturesFrom(&pictureServer{content: map[string][]byte{"https://cdn/1": square(w.t, 20)}})
		id := w.connectHarbour()
		w.setPicture("https://cdn/1", nil)
		w.collectAfter(time.Second, 1)
		if _, err := w.service.Picture(w.t.Context(), w.newTeam("bob@example.com"), id); !apierr.Is(err, apierr.NotFound) {
			w.t.Errorf("another team: %v", err)
		}
		var owner int64
		w.must(w.db.QueryRow(w.t.Context(), `SELECT person_id FROM memberships WHERE team_id = ?`, w.team).Scan(&owner))
		if w.picture(id).Type == "" {
			w.t.Error("no picture before disconnecting")
		}
		_, err := w.accounts.Disconnect(w.t.Context(), owner, w.team, id)
		w.must(err)
		if got := w.picture(id); got.Type != "" {
			w.t.Error("the picture was not deleted")
		}
	})
}
