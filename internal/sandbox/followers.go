package sandbox

import (
	"time"

	"pressroom.example/pressroom/internal/sandbox/world"
)

// FollowersAt returns the number of followers that a public profile (see package world) has at the time at.
func FollowersAt(platform, username string, at time.Time) int64 {
	return world.Profile{Platform: platform, Name: username}.Details(world.DayOf(at), 0).Followers
}
