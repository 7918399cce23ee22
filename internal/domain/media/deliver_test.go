package media

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/gif"
	"io"
	"path"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
)

// tokenOf returns the token of a signed link.
func (w fixture) tokenOf(i Item, until time.Time) string {
	return path.Base(path.Dir(strings.TrimPrefix(w.linkTo(i, network.FileLimits{}, until), w.PublicURL+PublicPath)))
}

// linkTo returns a link to an item, resized if needed.
func (w fixture) linkTo(i Item, fit network.FileLimits, until time.Time) string {
	link, err := w.Files(w.team).Link(context.Background(), i.ID, fit, until)
	if err != nil {
		panic(err)
	}
	return link
}

func TestLinksResizeImages(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		until := w.clock.Now().Add(time.Hour)
		photo, video := w.add(t, pngOf(noise(1, 400, 300))), w.add(t, film(1, 100))
		fit := network.FileLimits{Types: []string{"image/jpeg"}, MaxBytes: 50_000, MaxSide: 200}
		link := w.linkTo(photo, fit, until)
		opened, err := w.OpenPublic(t.Context(), path.Base(path.Dir(link)))
		must(t, err)
		raw, err := io.ReadAll(opened)
		must(t, errors.Join(err, opened.Close()))
		config, kind, err := image.DecodeConfig(bytes.NewReader(raw))
		if err != nil || kind != "jpeg" || config.Width != 200 || opened.Type != "image/jpeg" ||
			opened.Size() != int64(len(raw)) || !strings.HasSuffix(link, ".jpg") || !strings.HasSuffix(opened.Name, ".jpg") {
			t.Errorf("%s: %s of %d pixels, %+v, %v", link, kind, config.Width, opened, err)
		}
		for name, c := range map[string]struct {
			id  int64
			fit network.FileLimits
		}{"a video": {video.ID, fit}, "another type": {photo.ID, network.FileLimits{Types: []string{"image/webp"}}},
			"none": {9_999_999, fit}} {
			var rejected *network.Error
			if _, err := w.Files(w.team).
				Link(t.Context(), c.id, c.fit, until); !errors.As(err, &rejected) || rejected.Class != network.RejectedMedia {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestSignedLinks(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		file := film(1, 100)
		i := w.add(t, file)
		until := w.clock.Now().Add(time.Minute).Truncate(time.Second)
		if url := w.linkTo(i, network.FileLimits{}, until); !strings.HasPrefix(url, "http://press.example/files/") ||
			!strings.HasSuffix(url, "/a%20file.mp4") {
			t.Error(url)
		}
		token := w.tokenOf(i, until)
		w.clock.Advance(until.Sub(w.clock.Now()) - time.Microsecond)
		opened, err := w.OpenPublic(t.Context(), token)
		must(t, err)
		got, err := io.ReadAll(opened)
		must(t, errors.Join(err, opened.Close()))
		if left := time.Until(opened.ExpiresAt); left > 0 || left < -time.Minute {
			t.Errorf("a file whose link expires in a microsecond is cached for %v", left)
		}
		if !bytes.Equal(got, file) || opened.Type != "video/mp4" || opened.Name != "a file.mp4" || opened.Size() != int64(len(file)) {
			t.Errorf("%+v", opened)
		}
		w.checkTampering(t, token)
		other := instance(t, w.url, w.clock, w.Blobs)
		if _, err := other.OpenPublic(t.Context(), token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("link signed with another key: %v", err)
		}
		w.clock.Advance(time.Microsecond)
		if _, err := w.OpenPublic(t.Context(), token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("expired link: %v", err)
		}
		token = w.tokenOf(i, w.clock.Now().Add(time.Hour))
		w.exec(t, `DELETE FROM media WHERE id = ?`, i.ID)
		if _, err := w.OpenPublic(t.Context(), token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("link to a deleted item: %v", err)
		}
	})
}

// checkTampering tries a token with each bit and each letter changed, cut, and extended.
func (w fixture) checkTampering(t *testing.T, token string) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(token)
	must(t, err)
	forged := []string{"", token + "A", token + "=", token[:len(token)-1], token + token, strings.Repeat("A", 1<<20), "\x00"}
	for n := range raw {
		for bit := range 8 {
			changed := bytes.Clone(raw)
			changed[n] ^= 1 << bit
			forged = append(forged, base64.RawURLEncoding.EncodeToString(changed))
		}
	}
	for n := range token {
		letter := byte('A')
		if token[n] == letter {
			letter = 'B'
		}
		forged = append(forged, token[:n]+string(letter)+token[n+1:])
	}
	for _, f := range forged {
		if _, err := w.OpenPublic(t.Context(), f); !apierr.Is(err, apierr.NotFound) {
			t.Fatalf("%.60q for %q: %v", f, token, err)
		}
	}
}

func TestSignedLinksWithoutADatabase(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		token := w.tokenOf(w.add(t, film(1, 10)), w.clock.Now().Add(time.Hour))
		must(t, w.db.Close())
		_, err := w.OpenPublic(t.Context(), token)
		wantCode(t, err, apierr.Internal)
	})
}

func gifOf(t *testing.T, frames ...*image.Paletted) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, gif.EncodeAll(&out, &gif.GIF{Image: frames, Delay: make([]int, len(frames))}))
	return out.Bytes()
}

func TestResizeFiles(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo, animation, movie := w.add(t, jpegOf(noise(1, 400, 300))), w.add(t,
			gifOf(t, noise(2, 90, 60), noise(3, 90, 60))), w.add(t, film(1, 5000))
		jpegs := []string{"image/jpeg"}
		for name, c := range map[string]struct {
			item          Item
			fit           network.FileLimits
			same          bool
			width, height int
		}{
			"as it is":          {photo, network.FileLimits{Types: jpegs, MaxBytes: photo.Size, MaxSide: 400}, true, 400, 300},
			"too many bytes":    {photo, network.FileLimits{Types: jpegs, MaxBytes: photo.Size - 1}, false, 0, 0},
			"very few bytes":    {photo, network.FileLimits{Types: jpegs, MaxBytes: 8_000}, false, 0, 0},
			"too wide":          {photo, network.FileLimits{Types: jpegs, MaxSide: 200}, false, 200, 150},
			"an animation":      {animation, network.FileLimits{Types: jpegs}, false, 90, 60},
			"animation allowed": {animation, network.FileLimits{Types: []string{"image/gif", "image/jpeg"}}, true, 90, 60},
			"video allowed":     {movie, network.FileLimits{Types: []string{"video/mp4"}}, true, 64, 48},
		} {
			f, err := w.Files(w.team).Open(t.Context(), c.item.ID, c.fit)
			must(t, err)
			raw, err := io.ReadAll(f)
			must(t, errors.Join(err, f.Close()))
			if f.Size != int64(len(raw)) || c.fit.MaxBytes > 0 && f.Size > c.fit.MaxBytes ||
				(f.Size == c.item.Size && f.Type == c.item.Type) != c.same {
				t.Errorf("%s: %d bytes read of %+v", name, len(raw), f)
			}
			if c.width > 0 && (f.Width != c.width || f.Height != c.height) || c.fit.MaxSide > 0 && max(f.Width, f.Height) > c.fit.MaxSide {
				t.Errorf("%s: %d×%d", name, f.Width, f.Height)
			}
			if config, format, err := image.DecodeConfig(bytes.NewReader(raw)); f.Type == "image/jpeg" && (err != nil ||
				format != "jpeg" || config.Width != f.Width || config.Height != f.Height) {
				t.Errorf("%s: %s, %+v, %v", name, format, config, err)
			}
		}
	})
}

func TestFilesRejectedByNetworks(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo, movie := w.add(t, jpegOf(noise(1, 80, 60))), w.add(t, film(1, 5000))
		others := w.newTeam(t).add(t, film(2, 5000))
		for name, c := range map[string]struct {
			id   int64
			fit  network.FileLimits
			code string
		}{
			"gone":             {movie.ID + 1000, network.FileLimits{}, "MediaGone"},
			"another team's":   {others.ID, network.FileLimits{}, "MediaGone"},
			"no type":          {photo.ID, network.FileLimits{Types: []string{"image/avif"}}, "MediaDoesNotFit"},
			"a film too large": {movie.ID, network.FileLimits{MaxBytes: 4000}, "MediaDoesNotFit"},
			"ten bytes":        {photo.ID, network.FileLimits{MaxBytes: 10}, "MediaDoesNotFit"},
		} {
			_, err := w.Files(w.team).Open(t.Context(), c.id, c.fit)
			rejected, ok := errors.AsType[*network.Error](err)
			if !ok || rejected.Class != network.RejectedMedia || rejected.Code != c.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		_, err := w.Files(w.team).Open(stopped, photo.ID, network.FileLimits{MaxSide: 10})
		if _, rejected := errors.AsType[*network.Error](err); rejected || err == nil {
			t.Errorf("canceled while reading: %v", err)
		}
		must(t, w.Blobs.Delete(t.Context(), photo.Blob))
		_, err = w.Files(w.team).Open(t.Context(), photo.ID, network.FileLimits{})
		if _, rejected := errors.AsType[*network.Error](err); rejected || err == nil {
			t.Errorf("file without bytes: %v", err)
		}
	})
}
