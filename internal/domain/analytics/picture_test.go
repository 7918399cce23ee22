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

// files are what profile pictures' addresses return.
type files struct {
	content map[string][]byte
	fetched []string
}

func (f *files) fetch(_ context.Context, platform, url string, limit int64, into io.Writer) error {
	f.fetched = append(f.fetched, platform+" "+url)
	content, ok := f.content[url]
	if !ok || int64(len(content)) > limit {
		return errors.New("as the test says")
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

// pictures makes turns fetch pictures with f.
func (w *env) pictures(f *files) {
	w.options.FetchPicture = f.fetch
	w.service = analytics.New(w.db, w.accounts, w.options)
}

// tellPicture makes the network return a picture URL, with an error if err is not nil.
func (w *env) tellPicture(url string, err error) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.tells = func(asked) (network.Collection, error) { return network.Collection{Picture: url}, err }
}

// tellNoPicture makes the network return that the account has no picture.
func (w *env) tellNoPicture() {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.tells = func(asked) (network.Collection, error) { return network.Collection{NoPicture: true}, nil }
}

func (w *env) picture(id int64) analytics.Picture {
	w.t.Helper()
	return must.Get(w.service.Picture(w.t.Context(), w.team, id))(w.t)
}

// A turn stores the account's picture as a thumbnail. It is fetched again only if its URL changes, at most once a day.
func TestPicture(t *testing.T) {
	each(t, func(w *env) {
		f := &files{content: map[string][]byte{"https://cdn/1": square(w.t, 600), "https://cdn/2": square(w.t, 50)}}
		w.pictures(f)
		id := w.harbour()
		w.tellPicture("https://cdn/1", nil)
		w.after(0, 1)
		got := w.picture(id)
		about, _, err := image.DecodeConfig(bytes.NewReader(got.Image))
		if err != nil || got.Type != "image/jpeg" || about.Width != 128 || about.Height != 128 || got.Username != "harbour" {
			w.t.Fatalf("%s of %v, %v", got.Type, about, err)
		}
		w.after(2*day, 2)
		w.tellPicture("https://cdn/2", nil)
		w.after(turn, 3)
		if len(f.fetched) != 2 || f.fetched[0] != "instagram https://cdn/1" {
			w.t.Errorf("fetched %v", f.fetched)
		}
		w.tellPicture("https://cdn/1", nil)
		w.after(turn, 4)
		if about, _, err := image.DecodeConfig(bytes.NewReader(w.picture(id).Image)); err != nil || about.Width != 50 ||
			len(f.fetched) != 2 {
			w.t.Errorf("fetched %v, has %v, %v", f.fetched, about, err)
		}
	})
}

// A picture that the account has removed is deleted. It is kept if the network does not say.
func TestRemovePicture(t *testing.T) {
	each(t, func(w *env) {
		w.pictures(&files{content: map[string][]byte{"https://cdn/1": square(w.t, 20)}})
		id := w.harbour()
		w.tellPicture("https://cdn/1", nil)
		w.after(0, 1)
		w.tellPicture("", nil)
		w.after(turn, 2)
		if w.picture(id).Type == "" {
			w.t.Error("the picture is not kept")
		}
		w.tellNoPicture()
		w.after(turn, 3)
		if got := w.picture(id); got.Type != "" || got.Image != nil || got.Name == "" {
			w.t.Errorf("%+v", got)
		}
		w.tellPicture("https://cdn/1", nil)
		w.after(turn, 4)
		if w.picture(id).Type == "" {
			w.t.Error("a new picture is not stored")
		}
	})
}

// A picture that is no image or cannot be fetched changes nothing and does not fail the turn. A network without metrics
// may still have a picture.
func TestPictureFails(t *testing.T) {
	each(t, func(w *env) {
		f := &files{content: map[string][]byte{"https://cdn/page": []byte("<html>"), "https://cdn/1": square(w.t, 20)}}
		w.pictures(f)
		id := w.harbour()
		for i, url := range []string{"https://cdn/page", "https://cdn/none", ""} {
			w.tellPicture(url, nil)
			w.after(turn, i+1)
			if got := w.picture(id); got.Type != "" || got.Name == "" {
				w.t.Errorf("%s: %+v", url, got)
			}
		}
		w.tellPicture("https://cdn/1", &network.Error{Class: network.Unapproved, Err: errors.New("as the test says")})
		w.after(turn, 4)
		if got := w.picture(id); got.Type != "image/jpeg" || got.FetchedAt.Before(start) {
			w.t.Errorf("%+v", got)
		}
	})
}

// A disconnected account has no picture, and no other team sees one.
func TestDisconnectDeletesPicture(t *testing.T) {
	each(t, func(w *env) {
		w.pictures(&files{content: map[string][]byte{"https://cdn/1": square(w.t, 20)}})
		id := w.harbour()
		w.tellPicture("https://cdn/1", nil)
		w.after(time.Second, 1)
		if _, err := w.service.Picture(w.t.Context(), w.newTeam("bob@example.com"), id); !apierr.Is(err, apierr.NotFound) {
			w.t.Errorf("another team: %v", err)
		}
		var owner int64
		w.must(w.db.QueryRow(w.t.Context(), `SELECT person_id FROM memberships WHERE team_id = ?`, w.team).Scan(&owner))
		if w.picture(id).Type == "" {
			w.t.Error("there is no picture")
		}
		_, err := w.accounts.Disconnect(w.t.Context(), owner, w.team, id)
		w.must(err)
		if got := w.picture(id); got.Type != "" {
			w.t.Error("the picture is still there")
		}
	})
}
