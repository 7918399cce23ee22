package compose

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
)

// A replaced item keeps its position and gets the alternative text of the original.
func TestReplaceMedia(t *testing.T) {
	for _, c := range []struct{ name, form, field, want string }{
		{"position and text", "media=1&media=2&media=3&alt-2=Quay", "media", "alt-2=Quay&alt-9=Quay&media=1&media=9&media=3"},
		{"own list", "media=2&media-5=2", "media-5", "media=2&media-5=9"},
		{"text of the replacement", "partmedia-1=2&media=9&alt-9=Boat&alt-2=Quay", "partmedia-1",
			"alt-2=Quay&alt-9=Boat&media=9&partmedia-1=9"},
		{"missing", "media=1&media-5=2", "media", ""},
		{"twice", "media=2&media=9", "media", ""},
	} {
		form, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		before := form.Encode()
		err = replaceMedia(form, c.field, 2, 9)
		if c.want == "" {
			if f := apierr.FromError(err); err == nil || f.IsServerError() || form.Encode() != before {
				t.Errorf("%s: %v, %s", c.name, err, form.Encode())
			}
			continue
		}
		if err != nil || form.Encode() != c.want {
			t.Errorf("%s: %v, %s", c.name, err, form.Encode())
		}
	}
}

// The purposes of an image are the networks of the accounts that publish it, or library.Story.
func TestPurposes(t *testing.T) {
	accounts := []account.SocialAccount{
		{ID: 1, Platform: "instagram"}, {ID: 2, Platform: "x"}, {ID: 3, Platform: "x"}, {ID: 4, Platform: "pinterest"},
	}
	s := formData{Accounts: []int64{1, 2, 3}}
	if diff := cmp.Diff([]string{"instagram", "x"}, s.purposes(mediaList{}, accounts)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"x"}, s.purposes(mediaList{Account: 2}, accounts)); diff != "" {
		t.Error(diff)
	}
	s.Choices.Instagram = &network.InstagramOptions{Format: network.FormatStory}
	if diff := cmp.Diff([]string{"story", "x"}, s.purposes(mediaList{Part: 1}, accounts)); diff != "" {
		t.Error(diff)
	}
}
