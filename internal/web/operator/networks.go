package operator

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// networkView is the state of a network.
type networkView struct {
	delivery.Circuit

	Name, Platform string
	Calls          delivery.Calls // of the last 24 hours
}

// networksView is the state of all networks, with recent failures and the result of a check of the apps.
type networksView struct {
	Networks   []networkView
	Rejections []delivery.AppRejection
	Failures   []delivery.Failure
	Names      teamsearch.Names // of the teams of the failures
	Checked    bool             // Findings is the result of a check that was just made
	Findings   []appcheck.Finding
}

// FailureCount returns the number of failed findings.
func (v networksView) FailureCount() int { return appcheck.CountFailures(v.Findings) }

var results = map[network.Result]locale.Key{
	network.Works: "Works|result", network.Fails: "Does not work|result", network.Unclear: "Unclear|result",
}

func (p *Handlers) networksPage(w http.ResponseWriter, r *http.Request) {
	p.showNetworks(w, r, networksView{})
}

// checkTimeout is longer than a check can take.
const checkTimeout = time.Minute

// checkApps checks the permissions of the apps at the networks.
func (p *Handlers) checkApps(w http.ResponseWriter, r *http.Request) {
	// servers without deadlines need no update
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(checkTimeout))
	found, err := p.Apps.Check(r.Context())
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.showNetworks(w, r, networksView{Checked: true, Findings: found})
}

func (p *Handlers) showNetworks(w http.ResponseWriter, r *http.Request, view networksView) {
	calls, err := p.Delivery.CountCalls(r.Context(), p.DB.Now().Add(-24*time.Hour))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	for _, platform := range p.Platforms {
		view.Networks = append(view.Networks,
			networkView{p.Delivery.Circuit(platform), shell.NetworkName(platform), platform, calls[platform]})
	}
	if view.Rejections, err = p.Delivery.AppRejections(r.Context()); err == nil {
		view.Failures, err = p.Delivery.RecentFailures(r.Context())
	}
	if err == nil {
		view.Names, err = namesOf(r.Context(), p.DB, view.Failures, func(f delivery.Failure) int64 { return f.TeamID })
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["networks"], "Networks", view)
}
