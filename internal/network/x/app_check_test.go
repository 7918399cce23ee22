package x_test

import (
	"net/http"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// An app without credit cannot connect accounts. The next step tells the operator to buy credit.
func TestUnpaidApp(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter.WithApp("-unpaid"), 0)
	_, err := f.Exchange("", networktest.Account)
	networktest.WantClass(t, err, network.AppNotApproved, "")
	s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{
		Status: http.StatusPaymentRequired, Body: `{"title":"CreditsDepleted","detail":"no credits"}`,
	})
	n, _ := s.Network.(network.AppChecker)
	networktest.WantFinding(t, n.CheckAccount(t.Context(), s.Grant), network.CheckFailed, "credit and access token",
		"no credits", "Buy credit")
}
