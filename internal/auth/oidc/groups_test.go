package oidc

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The highest role of a person's groups applies, or "" in teams without any of them. Incomplete groups are rejected.
func TestRoles(t *testing.T) {
	t.Parallel()
	mapping := must.Get(ParseGroupRoles([]string{"cn=a,dc=x=1:viewer", "b=1:admin", "c=1:editor", "c=2:client"}))(t)
	for claims, want := range map[string]map[int64]access.Role{
		`{"groups":[]}`:                {1: "", 2: ""},
		`{"groups":["B","x"]}`:         {1: "", 2: ""},
		`{"groups":"b"}`:               {1: access.Admin, 2: ""},
		`{"groups":["b","c"]}`:         {1: access.Admin, 2: access.Client},
		`{"groups":["c","cn=a,dc=x"]}`: {1: access.Editor, 2: access.Client},
	} {
		for _, order := range [][]GroupRole{mapping, {mapping[3], mapping[2], mapping[1], mapping[0]}} {
			d := &Directory{Options: Options{GroupsClaim: DefaultGroupsClaim, GroupRoles: order}}
			var all map[string]json.RawMessage
			must.NoError(t, json.Unmarshal([]byte(claims), &all))
			if diff := cmp.Diff(want, must.Get(d.roles(all))(t)); diff != "" {
				t.Errorf("%s: %s", claims, diff)
			}
		}
	}
	d := &Directory{Options: Options{GroupsClaim: DefaultGroupsClaim, GroupRoles: mapping}}
	claims := map[string]json.RawMessage{"_claim_names": json.RawMessage(`{"groups":"src1"}`)}
	if _, err := d.roles(claims); !errors.Is(err, errTooManyGroups) {
		t.Errorf("incomplete groups: %v", err)
	}
	for _, claims := range []string{
		`{}`, `{"groups":null}`, `{"groups":""}`, `{"groups":[{"id":"b"}]}`, `{"groups":[1]}`, `{"groups":{"b":true}}`, `{"groups":7}`,
	} {
		var all map[string]json.RawMessage
		must.NoError(t, json.Unmarshal([]byte(claims), &all))
		if roles, err := d.roles(all); !errors.Is(err, errNoGroups) {
			t.Errorf("%s: %v (%v)", claims, roles, err)
		}
	}
	for _, wrong := range []string{"", "a", "a=1", "=1:editor", "a=x:editor", "a=0:editor", "a=1:owner", "a=1:boss"} {
		if _, err := ParseGroupRoles([]string{wrong}); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
