package operator

import (
	"net/http"
	"regexp"
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
	Calls          delivery.Calls // calls in the last 24 hours
	Published      time.Time      // time of the last known publication; zero if there is none
}

// networksView is the page with the state of all networks, recent failures, and the result of a check of the apps.
type networksView struct {
	Networks   []networkView
	Rejections []delivery.AppRejection
	Failures   []delivery.Failure
	Names      teamsearch.Names // names of the teams with failures
	Checked    bool             // Findings holds the result of a check that was just run
	Findings   []appcheck.Finding
}

// FailureCount returns the number of checks that failed.
func (v networksView) FailureCount() int { return appcheck.CountFailures(v.Findings) }

// UnclearCount returns the number of findings whose result is unclear.
func (v networksView) UnclearCount() int { return countFindings(v.Findings, network.CheckUnclear) }

// checkGroup holds the findings about a network.
type checkGroup struct {
	Network  string
	Findings []appcheck.Finding
}

// Passed returns the number of checks that passed.
func (g checkGroup) Passed() int { return countFindings(g.Findings, network.CheckPassed) }

// Failed returns the number of checks that failed.
func (g checkGroup) Failed() int { return countFindings(g.Findings, network.CheckFailed) }

// Unclear returns the number of findings whose result is unclear.
func (g checkGroup) Unclear() int { return countFindings(g.Findings, network.CheckUnclear) }

// countFindings returns the number of findings with the given result.
func countFindings(findings []appcheck.Finding, result network.CheckResult) int {
	n := 0
	for _, f := range findings {
		if f.Result == result {
			n++
		}
	}
	return n
}

// Groups returns the findings by network.
func (v networksView) Groups() []checkGroup {
	var out []checkGroup
	for _, f := range v.Findings {
		if n := len(out); n == 0 || out[n-1].Network != f.Network {
			out = append(out, checkGroup{Network: f.Network})
		}
		last := &out[len(out)-1]
		last.Findings = append(last.Findings, f)
	}
	return out
}

// timePattern matches the times in the details of findings.
var timePattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// detailText translates the details of a finding and formats the times in them.
func detailText(l *locale.Language, text string) string {
	return timePattern.ReplaceAllStringFunc(translate(l, text), func(match string) string {
		at, err := time.Parse(time.RFC3339, match)
		if err != nil {
			return match
		}
		return l.Format(at, locale.DateTime) + " UTC"
	})
}

var resultLabels = map[network.CheckResult]locale.Key{
	network.CheckPassed: "Works|result", network.CheckFailed: "Does not work|result",
	network.CheckUnclear: "Unclear|result",
}

func (h *Handlers) networksPage(w http.ResponseWriter, r *http.Request) {
	h.showNetworks(w, r, networksView{})
}

// checkTimeout is the write timeout during a check. It is longer than a check can take.
const checkTimeout = time.Minute

// checkApps checks the permissions of the apps that are registered with the networks.
func (h *Handlers) checkApps(w http.ResponseWriter, r *http.Request) {
	// SetWriteDeadline fails only if the server does not support deadlines
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(checkTimeout))
	findings, err := h.Apps.Check(r.Context())
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.showNetworks(w, r, networksView{Checked: true, Findings: findings})
}

func (h *Handlers) showNetworks(w http.ResponseWriter, r *http.Request, view networksView) {
	calls, err := h.Delivery.CountCalls(r.Context(), h.DB.Now().Add(-24*time.Hour))
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	lastResults, err := h.Delivery.AppVerdicts(r.Context())
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	for _, platform := range h.Platforms {
		row := networkView{
			Circuit: h.Delivery.Circuit(platform), Name: shell.NetworkName(platform), Platform: platform, Calls: calls[platform],
		}
		if last, ok := lastResults[platform]; ok && last.Accepted {
			row.Published = last.At
		}
		view.Networks = append(view.Networks, row)
	}
	if view.Rejections, err = h.Delivery.AppRejections(r.Context()); err == nil {
		view.Failures, err = h.Delivery.RecentFailures(r.Context())
	}
	if err == nil {
		view.Names, err = teamNamesOf(r.Context(), h.DB, view.Failures, func(f delivery.Failure) int64 { return f.TeamID })
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["networks"], "Networks", view)
}
