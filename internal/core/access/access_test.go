package access_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
)

// LevelIncluding returns a level with all the capabilities, and no narrower level has them all.
func TestLevelIncluding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		granted []access.Capability
		level   access.Level
	}{
		{[]access.Capability{access.Read}, access.ReadOnly},
		{[]access.Capability{access.Write}, access.Drafts},
		{[]access.Capability{access.Write, access.Read}, access.Drafts},
		{[]access.Capability{access.Publish}, access.Full},
		{[]access.Capability{access.Read, access.Spend}, access.Full},
		{access.Capabilities(), access.Full},
	} {
		if got := access.LevelIncluding(c.granted); got != c.level {
			t.Errorf("%v needs %s, want %s", c.granted, got, c.level)
		}
	}
}

// LevelWithin returns a level without capabilities that were not granted.
func TestLevelWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		granted []access.Capability
		level   access.Level
	}{
		{[]access.Capability{access.Read}, access.ReadOnly},
		{[]access.Capability{access.Publish}, access.ReadOnly},
		{[]access.Capability{access.Write, access.Read}, access.Drafts},
		{[]access.Capability{access.Read, access.Write, access.Publish}, access.Drafts},
		{access.Capabilities(), access.Full},
	} {
		if got := access.LevelWithin(c.granted); got != c.level {
			t.Errorf("%v give %s, want %s", c.granted, got, c.level)
		}
	}
}

// The role limits a person in the app, level and role limit a key, and grant and role limit a connection.
func TestBaseCapabilities(t *testing.T) {
	t.Parallel()
	both := []access.Capability{access.Write, access.Publish}
	for name, c := range map[string]struct {
		actor access.Actor
		want  []access.Capability
	}{
		"viewer in the app": {access.Actor{Role: access.Viewer}, []access.Capability{access.Read}},
		"a key of drafts": {
			access.Actor{KeyID: 1, Role: access.Owner, Level: access.Drafts}, []access.Capability{access.Read, access.Write},
		},
		"a full key of an editor": {
			access.Actor{KeyID: 1, Role: access.Editor, Level: access.Full},
			[]access.Capability{access.Read, access.Write, access.Publish},
		},
		"connection without read": {
			access.Actor{KeyID: 1, Assistant: true, Role: access.Owner, Level: access.Full, Granted: both}, both,
		},
		"connection of a person who became a viewer": {
			access.Actor{KeyID: 1, Assistant: true, Role: access.Viewer, Level: access.Full, Granted: both},
			[]access.Capability{},
		},
		"connection of a former member": {
			access.Actor{KeyID: 1, Assistant: true, Level: access.Full, Granted: both}, []access.Capability{},
		},
	} {
		if diff := cmp.Diff(c.want, c.actor.BaseCapabilities()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestCanPublish(t *testing.T) {
	t.Parallel()
	for role, want := range map[access.Role]bool{
		access.Owner: true, access.Admin: true, access.Editor: true, access.Viewer: false, access.Client: false, "": false,
	} {
		if role.CanPublish() != want {
			t.Errorf("%q publishes: %v", role, !want)
		}
	}
}
