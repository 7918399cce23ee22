package graph_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// agency returns the login of a person with business portfolios that own one Page each. The parameter own is the
// response with the person's own Pages. The parameter slow is the ID of a portfolio whose Pages are never returned. If
// there are several portfolios, the first one responds only after the request for the second one.
func agency(t *testing.T, portfolios int, own, slow string) (graph.Login, network.Grant, *atomic.Int32) {
	t.Helper()
	var concurrent, most atomic.Int32
	second := make(chan struct{})
	requested := sync.OnceFunc(func() { close(second) })
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := concurrent.Add(1)
		defer concurrent.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		switch id, edge, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v25.0/"), "/"); {
		case edge == "accounts":
			_, _ = fmt.Fprint(w, own)
		case edge == "businesses":
			var list []string
			for i := range portfolios {
				list = append(list, fmt.Sprintf(`{"id":"%d"}`, 1000+i))
			}
			_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(list, ","))
		case id == slow:
			<-r.Context().Done()
		case edge == "owned_pages":
			if id == "1001" {
				requested()
			}
			if id == "1000" && portfolios > 20 {
				<-second
			}
			_, _ = fmt.Fprintf(w, `{"data":[{"id":"5%s","access_token":"t"}]}`, id)
		default:
			_, _ = fmt.Fprint(w, `{"data":[]}`)
		}
	}))
	t.Cleanup(front.Close)
	login := graph.Login{Client: graph.New(network.App{Now: time.Now}), Version: "v25.0"}
	return login, network.Grant{Server: front.URL, Scopes: []string{graph.ScopeBusiness}}, &most
}

const (
	nothing     = `{"data":[]}`
	withoutNext = `{"data":[{"id":"41","access_token":"t"}],"paging":{"next":"https://graph.test/"}}`
)

// The Pages of all portfolios are read, several at a time, in the order of the portfolios. The result reports whether
// there may be more.
func TestPagesOfManyPortfolios(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		portfolios int
		own        string
		pages      int
		more       bool
	}{
		"sixty":                    {60, nothing, 60, false},
		"too many":                 {201, nothing, 200, true},
		"a list that has an end":   {1, withoutNext, 2, true},
		"all of the person's own":  {0, strings.Replace(withoutNext, `,"paging":{"next":"https://graph.test/"}`, "", 1), 1, false},
		"no portfolio and no Page": {0, nothing, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			login, person, most := agency(t, c.portfolios, c.own, "")
			found, err := login.Pages(t.Context(), person, "id,access_token")
			if more := errors.Is(err, network.ErrMoreAccounts); len(found) != c.pages || more != c.more || err != nil && !more {
				t.Fatalf("%d Pages, %v", len(found), err)
			}
			if c.portfolios > 20 && (found[59].ID != "51059" || most.Load() > 8) {
				t.Errorf("the 60th Page is %s, %d requests at once", found[59].ID, most.Load())
			}
		})
	}
}

// If the lists of portfolios take too long, the Pages read so far are returned. If the context of the sign-in ends, the
// sign-in fails.
func TestSlowPortfolio(t *testing.T) {
	t.Parallel()
	login, person, _ := agency(t, 3, nothing, "1001")
	login.PortfolioTimeout = time.Second
	found, err := login.Pages(t.Context(), person, "id,access_token")
	if len(found) != 2 || !errors.Is(err, network.ErrMoreAccounts) {
		t.Errorf("%d Pages, %v", len(found), err)
	}
	ended, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	found, err = login.Pages(ended, person, "id,access_token")
	if err == nil || found != nil {
		t.Errorf("%d Pages after the end of the sign-in, %v", len(found), err)
	}
}
