package team

import (
	"context"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"strings"
	"sync/atomic"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passwords"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// FirstRun creates the first person and team of an installation. It requires the setup code, which the process writes
// to its log.
type FirstRun struct {
	signIns *SignIns
	code    string
	isSetUp atomic.Bool // set if the installation is known to be set up
}

// NewFirstRun returns a FirstRun. Nodes with the same sealing key have the same setup code.
func NewFirstRun(s *SignIns, signer tokencrypt.Signer) *FirstRun {
	code := base32.StdEncoding.EncodeToString(signer.Sign([]byte("setup code")))[:16]
	return &FirstRun{signIns: s, code: code}
}

// Code returns the setup code as four groups of four characters.
func (f *FirstRun) Code() string {
	return f.code[:4] + "-" + f.code[4:8] + "-" + f.code[8:12] + "-" + f.code[12:]
}

// Pending reports whether the installation has no people and no teams yet.
func (f *FirstRun) Pending(ctx context.Context) (bool, error) {
	if f.isSetUp.Load() {
		return false, nil
	}
	pending, err := isEmpty(ctx, f.signIns.db)
	f.isSetUp.Store(err == nil && !pending)
	return pending, err
}

func isEmpty(ctx context.Context, q db.Querier) (bool, error) {
	var isUsed int
	err := q.QueryRow(ctx, `SELECT CASE WHEN EXISTS (SELECT 1 FROM people) OR EXISTS (SELECT 1 FROM teams)
		THEN 1 ELSE 0 END`).Scan(&isUsed)
	if err != nil {
		return false, fmt.Errorf("finding people: %w", err)
	}
	return isUsed == 0, nil
}

// FirstPerson is the input of FirstRun.Create.
type FirstPerson struct {
	Code                  string
	Name, Email, Password string
	TeamName              string
	Timezone              string // IANA
	From                  string // identifier of the client; see Attempt.From
}

var (
	errSetupCode = apierr.New(apierr.Unauthorized, "Incorrect setup code. Find it in the log of the program that "+
		"you started.").With("argument", "code")
	// ErrSetUp is returned if the installation already has people or teams.
	ErrSetUp    = apierr.BadState("set_up", "This installation is already set up. Sign in.")
	errTeamName = apierr.Invalidf(apierr.Malformed, "team", "Enter a name for the team: one line of at most %d characters.",
		names.MaxLength)
)

// Create creates the first person as an operator, and a team that the person owns. It returns unauthorized for a wrong
// code, rate_limited after several wrong codes, and ErrSetUp if there are people or teams already.
func (f *FirstRun) Create(ctx context.Context, in FirstPerson) (Person, error) {
	if err := f.checkCode(in); err != nil {
		return Person{}, err
	}
	p := Person{Name: strings.TrimSpace(in.Name), Email: names.NormalizeEmail(in.Email), Operator: true}
	t := Team{Name: strings.TrimSpace(in.TeamName), Timezone: in.Timezone, Language: "en", Plan: f.plan()}
	if err := f.check(ctx, p, t, in.Password); err != nil {
		return Person{}, err
	}
	hash, err := f.signIns.hashPassword(ctx, passwords.ClientCaller(in.From), in.Password)
	if err != nil {
		return Person{}, err
	}
	err = f.signIns.teams.change(ctx, "team.set_up", func(ctx context.Context, tx *db.Tx) error {
		if err := lockEmpty(ctx, tx, f.signIns.db); err != nil {
			return err
		}
		if p.ID, err = insertPerson(ctx, tx, p, hash); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE people SET operator = 1, made_by_operator = 1 WHERE id = ?`, p.ID); err != nil {
			return fmt.Errorf("creating the first operator: %w", err)
		}
		actor, detail := auditlog.Actor{PersonID: p.ID}, map[string]any{"on": true}
		if err := auditlog.Record(ctx, tx, 0, actor, "person.operator", formatID(p.ID), detail); err != nil {
			return err
		}
		_, err = insertTeam(ctx, tx, t, p.ID)
		return err
	})
	return p, err
}

// checkCode compares the code in constant time. It ignores case, spaces and hyphens.
func (f *FirstRun) checkCode(in FirstPerson) error {
	code := strings.NewReplacer(" ", "", "-", "").Replace(strings.ToUpper(in.Code))
	return f.signIns.CheckSecret(in.From, func() error {
		if subtle.ConstantTimeCompare([]byte(code), []byte(f.code)) == 1 {
			return nil
		}
		return errSetupCode
	})
}

func (f *FirstRun) check(ctx context.Context, p Person, t Team, password string) error {
	switch pending, err := f.Pending(ctx); {
	case err != nil:
		return err
	case !pending:
		return ErrSetUp
	case !names.IsValid(p.Name):
		return errPersonName
	case names.ContainsURL(p.Name):
		return names.ErrURL
	case !names.IsEmail(p.Email):
		return ErrEmail
	case !names.IsValid(t.Name) || names.ContainsURL(t.Name):
		return errTeamName
	case !teamtime.IsZone(t.Timezone):
		return errTimezone
	}
	return passwords.Check(password, p.Name, p.Email)
}

// lockEmpty locks the installation against a concurrent setup. It returns ErrSetUp if there are people or teams.
func lockEmpty(ctx context.Context, tx *db.Tx, d *db.DB) error {
	var version int64
	err := tx.QueryRow(ctx, `SELECT version FROM access_version WHERE id = 1`+d.ForUpdate()).Scan(&version)
	if err != nil {
		return fmt.Errorf("locking the setup: %w", err)
	}
	empty, err := isEmpty(ctx, tx)
	if err == nil && !empty {
		return ErrSetUp
	}
	return err
}

// plan returns the plan of the first team: the plan "team" if it exists, or the operator's first plan.
func (f *FirstRun) plan() string {
	const defaultPlan = "team"
	catalog := f.signIns.teams.catalog
	if _, ok := catalog.Plan(defaultPlan); !ok {
		return catalog.PlanIDs()[0]
	}
	return defaultPlan
}
