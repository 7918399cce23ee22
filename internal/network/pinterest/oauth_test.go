package pinterest_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/pinterest"
)

// Boards are read page by page, up to a limit.
func TestManyBoards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ boards, want, calls int }{
		"some": {130, 130, 2}, "all": {200, 200, 2}, "too many": {450, 200, 2}, "none": {0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			s := networktest.NewStub(t, adapter, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
			found, err := s.Network.(*pinterest.Network).Exchange(t.Context(), networktest.Authorization(""), "code")
			if err != nil || len(found) != c.want || calls != c.calls {
				t.Errorf("%d candidates by %d calls, %v", len(found), calls, err)
			}
		})
	}
}

func TestWithoutSecret(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.UsePublicClient()
	_, err := f.Exchange("", networktest.Account)
	networktest.WantClass(t, err, network.AppNotApproved, "2")
}

// A consent without the permission to publish connects no account.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.Scopes("pins:read", "boards:read", "user_accounts:read")
	_, err := f.Exchange("", "mira.keller")
	networktest.WantClass(t, err, network.ReconnectRequired, "pins:write")
}
