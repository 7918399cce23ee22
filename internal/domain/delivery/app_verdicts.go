package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// AppVerdict is a network's verdict on the operator's app: the network published a post, or rejected a post because of
// the app.
type AppVerdict struct {
	At          time.Time
	Accepted    bool
	NetworkCode string          // from the network; untrusted
	NetworkText string          // from the network; untrusted
	Options     network.Options // options of the post, with the team's defaults; see effectiveOptions
}

// deliveryVerdict is a verdict with the delivery and the account that it belongs to.
type deliveryVerdict struct {
	AppVerdict

	delivery string
	account  int64
	platform string
}

// listVerdicts returns the verdicts among the newest 500 attempts, oldest first. If platform is empty, it returns the
// verdicts of all networks.
func (s *Service) listVerdicts(ctx context.Context, platform string) ([]deliveryVerdict, error) {
	verdicts, err := db.All(ctx, s.db, func(rows *sql.Rows, v *deliveryVerdict) error {
		var at int64
		var result, post, team string
		err := rows.Scan(&v.delivery, &v.account, &v.platform, &at, &result, &v.NetworkCode, &v.NetworkText, &post, &team)
		if err != nil {
			return err
		}
		v.At, v.Accepted = db.Time(at), result == "published"
		v.Options, err = effectiveOptions(post, team)
		return err
	}, `SELECT d.id, a.id, a.platform, t.started_at, t.result, t.network_code, t.network_text, p.options, m.post_options
		FROM (SELECT id, delivery_id, started_at, result, network_code, network_text FROM delivery_attempts
		ORDER BY id DESC LIMIT ?) t JOIN deliveries d ON d.id = t.delivery_id
		JOIN social_accounts a ON a.id = d.account_id JOIN posts p ON p.id = d.post_id JOIN teams m ON m.id = d.team_id
		WHERE t.result IN ('published', ?) AND (a.platform = ? OR ? = '') ORDER BY t.id`,
		maxSearchedAttempts, string(network.AppNotApproved), platform, platform)
	if err != nil {
		return nil, fmt.Errorf("reading the verdicts on apps: %w", err)
	}
	return verdicts, nil
}

// appReader returns a function that identifies an account's app by the kind of accounts that the app connects. The kind
// is empty if the network has only one app, or if the account cannot be read. The function reads each account once.
func (s *Service) appReader(ctx context.Context) func(account int64) string {
	apps := map[int64]string{}
	return func(account int64) string {
		if _, known := apps[account]; !known {
			g, _ := s.accounts.Grant(ctx, account)
			apps[account] = appKind(g.Grant)
		}
		return apps[account]
	}
}

// appKind returns the kind of accounts that a grant's app connects.
func appKind(g network.Grant) string {
	if app := g.Extra["app"]; app != "" {
		return app
	}
	return g.Kind
}

// AppVerdicts returns the newest verdict of each network, by platform. It searches the newest 500 attempts.
func (s *Service) AppVerdicts(ctx context.Context) (map[string]AppVerdict, error) {
	verdicts, err := s.listVerdicts(ctx, "")
	if err != nil {
		return nil, err
	}
	out := map[string]AppVerdict{}
	for _, v := range verdicts {
		out[v.platform] = v.AppVerdict // Later verdicts are newer.
	}
	return out, nil
}

// effectiveOptions decodes the options of a post. If the post has no TikTok options, it uses the team's TikTok options.
func effectiveOptions(post, team string) (network.Options, error) {
	o, err := network.DecodeOptions(post)
	if err != nil || o.TikTok != nil {
		return o, err
	}
	defaults, err := network.DecodeOptions(team)
	o.TikTok = defaults.TikTok
	return o, err
}

// AppRejection is the newest rejection of a post that was caused by one of the operator's apps, for one network code.
type AppRejection struct {
	AppVerdict

	Platform  string
	App       string // kind of accounts that the app connects; empty if the network has only one app
	NextStep  string // what the operator has to do
	Published bool   // whether the app has published a post since
}

// AppRejections returns the newest rejection for each app and network code, newest first. It searches the newest 500
// attempts.
func (s *Service) AppRejections(ctx context.Context) ([]AppRejection, error) {
	verdicts, err := s.listVerdicts(ctx, "")
	if err != nil {
		return nil, err
	}
	return listRejections(verdicts, s.appReader(ctx)), nil
}

// listRejections returns the newest rejection for each app and network code, newest first. It does not read the apps of
// networks that rejected nothing.
func listRejections(verdicts []deliveryVerdict, readApp func(account int64) string) []AppRejection {
	rejectingPlatforms := map[string]bool{}
	for _, v := range verdicts {
		rejectingPlatforms[v.platform] = rejectingPlatforms[v.platform] || !v.Accepted
	}
	var out []AppRejection
	publishingApps := map[[2]string]bool{}
	for _, v := range slices.Backward(verdicts) {
		if !rejectingPlatforms[v.platform] {
			continue
		}
		app := [2]string{v.platform, readApp(v.account)}
		switch {
		case v.Accepted:
			publishingApps[app] = true
		case !slices.ContainsFunc(out, func(r AppRejection) bool {
			return r.Platform == v.platform && r.App == app[1] && r.NetworkCode == v.NetworkCode
		}):
			out = append(out, AppRejection{v.AppVerdict, v.platform, app[1], network.NextStep(v.platform,
				v.NetworkCode), publishingApps[app]})
		}
	}
	return out
}

// warnAgainAfter is the time after which a rejection is logged again if the app has published a post since.
const warnAgainAfter = 24 * time.Hour

// logUnapproved logs that a network rejected the operator's app, unless an earlier post had the same result.
func (a *attempt) logUnapproved(ctx context.Context, e *network.Error) {
	verdicts, err := a.s.listVerdicts(ctx, a.grant.Platform)
	if err == nil && a.isKnownRejection(verdicts, e, a.s.appReader(ctx)) {
		return
	}
	a.s.log.WarnContext(ctx, "A network does not accept this installation's app for a post: it may lack an approval, "+
		"an audit, a permission or credit, or its settings may be outdated",
		"platform", a.grant.Platform, "app", appKind(a.grant.Grant), "network_code", e.Code,
		"next_step", network.NextStep(a.grant.Platform, e.Code), "post", a.d.PostID, "account", a.d.AccountID)
}

// isKnownRejection reports whether the network rejected the app with the same code before the delivery's last attempt.
// An earlier rejection counts only if the app has published nothing since, or if it happened within warnAgainAfter. It
// calls readApp only for accounts whose verdicts matter.
func (a *attempt) isKnownRejection(verdicts []deliveryVerdict, e *network.Error, readApp func(account int64) string) bool {
	_, code, _ := describeCallResult(e)
	app := appKind(a.grant.Grant)
	isOlder, appAccepted := false, false // whether v is older than the attempt; whether the app has published a post since
	for _, v := range slices.Backward(verdicts) {
		switch {
		case !isOlder:
			isOlder = v.delivery == a.d.ID
		case v.Accepted && appAccepted, !v.Accepted && v.NetworkCode != code: // The verdict is irrelevant.
		case readApp(v.account) != app:
		case v.Accepted:
			appAccepted = true
		default:
			return !appAccepted || a.s.db.Now().Sub(v.At) < warnAgainAfter
		}
	}
	return false
}
