package pinterest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/pinterest"
)

func TestConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	a := authorization()
	a.State = "a state & more"
	back := w.consent(a, "harbour.coffee", "allow")
	if back.Query().Get("state") != a.State || !strings.HasPrefix(back.String(), redirect+"?") {
		t.Errorf("back to %s", back)
	}
	found, err := w.network().Exchange(t.Context(), a, back.Query().Get("code"))
	if err != nil || len(found) != 3 {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	g := found[1].Grant
	person, boardID, _ := strings.Cut(g.Account, "/")
	if g.Access == "" || g.Refresh == "" || len(person) < 5 || len(boardID) < 5 || g.Account == found[0].Grant.Account {
		t.Errorf("grant %+v", g)
	}
	want := network.Candidate{DisplayName: "Harbour Coffee: Recipes", Grant: network.Grant{
		Server: w.url + "/pinterest", Account: g.Account, Username: "harbour.coffee/Recipes", Access: g.Access, Refresh: g.Refresh,
		Expires: start.Add(30 * 24 * time.Hour), RefreshExpires: start.Add(60 * 24 * time.Hour),
		Scopes: []string{"user_accounts:read", "boards:read", "boards:write", "pins:read", "pins:write"}, Extra: map[string]string{"board": boardID},
	}}
	if diff := cmp.Diff(want, found[1]); diff != "" {
		t.Error(diff)
	}
}

// Boards are read page by page, up to a number, and never without end.
func TestManyBoards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ boards, want, calls int }{
		"some": {130, 130, 2}, "all": {200, 200, 2}, "too many": {450, 200, 2}, "none": {0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/v5/oauth/token":
					_, _ = w.Write([]byte(`{"access_token":"a","scope":"pins:read,pins:write"}`))
				case "/v5/user_account":
					_, _ = w.Write([]byte(`{"id":"7","username":"me"}`))
				default:
					calls++
					from, _ := strconv.Atoi(r.URL.Query().Get("bookmark"))
					var items []string
					for i := from; i < min(from+100, c.boards); i++ {
						items = append(items, fmt.Sprintf(`{"id":"%d","name":"b"}`, i+1))
					}
					bookmark := "null"
					if from+100 < c.boards {
						bookmark = strconv.Quote(strconv.Itoa(from + 100))
					}
					_, _ = fmt.Fprintf(w, `{"items":[%s],"bookmark":%s}`, strings.Join(items, ","), bookmark)
				}
			}))
			t.Cleanup(front.Close)
			found, err := pinterest.New(pinterest.Options{APIHost: front.URL}).Exchange(t.Context(), authorization(), "code")
			if err != nil || len(found) != c.want || calls != c.calls {
				t.Errorf("%d candidates by %d calls, %v", len(found), calls, err)
			}
		})
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	back := w.consent(authorization(), "harbour.coffee", "deny").Query()
	if back.Get("error") != "access_denied" || back.Get("state") != "s" || back.Has("code") {
		t.Errorf("back with %v", back)
	}
}

func TestBadCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	exchange := func(a network.Authorization, code string) {
		t.Helper()
		_, err := w.network().Exchange(t.Context(), a, code)
		if said := networktest.WantClass(t, err, network.AuthDead, "283"); strings.Contains(said.Message+said.Error(), code) {
			t.Error("the error holds the code")
		}
	}
	code := func() string { return w.consent(authorization(), "mira.keller", "allow").Query().Get("code") }
	exchange(authorization(), "no-such-code")
	exchange(network.Authorization{Redirect: "https://elsewhere.test/"}, code())
	used := code()
	if _, err := w.network().Exchange(t.Context(), authorization(), used); err != nil {
		t.Fatal(err)
	}
	exchange(authorization(), used)
	late := code()
	w.clock.Advance(11 * time.Minute)
	exchange(authorization(), late)
	noSecret := pinterest.New(pinterest.Options{App: network.App{ClientID: "app"}, APIHost: w.url + "/pinterest"})
	_, err := noSecret.Exchange(t.Context(), authorization(), code())
	networktest.WantClass(t, err, network.Unapproved, "2")
}

// An expired token is renewed, and the refresh token is good once.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	w.clock.Advance(31 * 24 * time.Hour)
	d := w.prepared(g, l, "renewed")
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.AuthRefresh, "2")
	fresh, err := w.network().Refresh(t.Context(), g)
	if err != nil || fresh.Access == g.Access || fresh.Refresh == g.Refresh || fresh.Account != g.Account || !fresh.RefreshExpires.Equal(w.clock.Now().Add(60*24*time.Hour)) {
		t.Fatalf("grant %+v, %v", fresh, err)
	}
	if _, err := w.network().Commit(t.Context(), fresh, d, l); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "283")
	g.Refresh = ""
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "")
}

func TestNoPasswords(t *testing.T) {
	t.Parallel()
	_, err := pinterest.New(pinterest.Options{}).Connect(t.Context(), network.Credentials{Identifier: "harbour.coffee", Password: "x"})
	networktest.WantClass(t, err, network.Rejected, "")
}
