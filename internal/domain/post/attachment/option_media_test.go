package attachment_test

import (
	"testing"

	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/network"
)

// A deleted file of options is missing for its platform only, and is not stored as used.
func TestDeletedOptionMedia(t *testing.T) {
	t.Parallel()
	o := network.Options{
		Instagram: &network.InstagramOptions{CoverMediaID: 1}, YouTube: &network.YouTubeOptions{ThumbnailMediaID: 2},
	}
	media := []network.Media{{ID: 1, Gone: true}, {ID: 2}}
	if !attachment.LacksOptions(o, media, "instagram") || attachment.LacksOptions(o, media, "youtube") {
		t.Error("the wrong platform lacks a file")
	}
	if used := attachment.UsedByOptions(o, media); len(used) != 1 || used[0] != 2 {
		t.Errorf("used: %v", used)
	}
}
