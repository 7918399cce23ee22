package list

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// create creates a team's list with the accepted hashtags.
func (s *Service) create(
	ctx context.Context, call operation.Call, in CreateInput,
) (operation.Response[HashtagListChange], error) {
	var out operation.Response[HashtagListChange]
	l, err := in.newList(call.TeamID)
	if err != nil {
		return out, err
	}
	err = call.InTx(ctx, s.db, "hashtags.create_list", func(ctx context.Context, tx *db.Tx) error {
		l := l // a fresh copy for each attempt of the transaction
		if err := s.checkListLimit(ctx, tx, call); err != nil {
			return err
		}
		if err := s.insert(ctx, tx, &l); err != nil {
			return err
		}
		c, err := s.addHashtags(ctx, tx, call, &l, in.Hashtags, "")
		if err != nil {
			return err
		}
		out.Data, out.App, out.Location, out.Summary = c, appPath(l), apiPath(l), c.summary()
		return auditlog.Record(ctx, tx, l.TeamID, auditlog.NewActor(call), "hashtag_list.created", formatID(l.ID),
			map[string]any{"hashtags": len(c.Added)})
	})
	return out, err
}

// newList validates the input and returns the list to create.
func (in CreateInput) newList(team int64) (List, error) {
	l := List{TeamID: team, Platform: in.Platform}
	var err error
	if l.Name, err = parseName(in.Name); err != nil {
		return l, err
	}
	if l.Color, err = parseColor(in.Color); err != nil {
		return l, err
	}
	l.Icon, err = parseIcon(in.Icon)
	return l, err
}

var errListLimit = apierr.New(apierr.PlanLimitReached, "The team has reached the hashtag list limit of its plan. "+
	"Delete a list or upgrade the plan.").With("limit", "hashtag_lists")

// checkListLimit returns an error if the plan allows no further lists. It locks the team's row, so that concurrent
// calls cannot exceed the limit.
func (s *Service) checkListLimit(ctx context.Context, tx *db.Tx, call operation.Call) error {
	p, _ := s.Catalog.Plan(call.Plan) // if the plan was removed, p allows no lists
	if p.HashtagLists == plan.Unlimited {
		return nil
	}
	var id int64
	if err := tx.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`+s.db.ForUpdate(), call.TeamID).
		Scan(&id); err != nil {
		return fmt.Errorf("locking the team: %w", err)
	}
	return checkListCount(ctx, tx, call, p)
}

// checkListCount returns an error if the team has as many lists as its plan allows.
func checkListCount(ctx context.Context, q db.Querier, call operation.Call, p plan.Plan) error {
	if p.HashtagLists == plan.Unlimited {
		return nil
	}
	var lists int64
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM hashtag_lists WHERE team_id = ?`, call.TeamID).
		Scan(&lists); err != nil {
		return fmt.Errorf("counting the hashtag lists: %w", err)
	}
	if lists >= p.HashtagLists {
		return errListLimit
	}
	return nil
}

// add adds hashtags to a list. It does not change hashtags that are already in the list, so the call is idempotent.
func (s *Service) add(
	ctx context.Context, call operation.Call, in AddInput,
) (operation.Response[HashtagListChange], error) {
	var out operation.Response[HashtagListChange]
	subcategory, err := parseSubcategory(in.Subcategory)
	if err != nil {
		return out, err
	}
	err = call.InTx(ctx, s.db, "hashtags.add", func(ctx context.Context, tx *db.Tx) error {
		l, err := s.lock(ctx, tx, call.TeamID, in.ListID)
		if err != nil {
			return err
		}
		c, err := s.addHashtags(ctx, tx, call, &l, in.Hashtags, subcategory)
		if err != nil {
			return err
		}
		out.Data, out.App, out.Summary = c, appPath(l), c.summary()
		if len(c.Added) == 0 {
			return nil
		}
		return auditlog.Record(ctx, tx, l.TeamID, auditlog.NewActor(call), "hashtag_list.added_to", formatID(l.ID),
			map[string]any{"hashtags": len(c.Added)})
	})
	return out, err
}

// addHashtags adds the accepted hashtags to a locked list and requests that they be measured.
func (s *Service) addHashtags(ctx context.Context, tx *db.Tx, call operation.Call, l *List, hashtags []string,
	subcategory string) (HashtagListChange, error) {
	accepted, c, err := s.selectNew(ctx, tx, call, *l, hashtags)
	if err != nil {
		return c, err
	}
	if len(accepted) > 0 {
		if err := l.append(ctx, tx, accepted, subcategory); err != nil {
			return c, err
		}
		if err := s.Statistics.Enqueue(ctx, tx, l.Platform, accepted); err != nil {
			return c, err
		}
	}
	c.HashtagListEntry = newEntry(*l)
	return c, nil
}

// summary returns the ID of the list, and the numbers of added, existing and rejected hashtags.
func (c HashtagListChange) summary() string {
	out := fmt.Sprintf("%d. Added: %d, in the list already: %d", c.ID, len(c.Added), len(c.AlreadyPresent))
	counts, reasons := map[string]int{}, []string{}
	for _, r := range c.Refused {
		if counts[r.Reason]++; counts[r.Reason] == 1 {
			reasons = append(reasons, r.Reason)
		}
	}
	if len(reasons) == 0 {
		return out + "."
	}
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s: %d", reason, counts[reason])
	}
	return fmt.Sprintf("%s. Rejected: %d (%s).", out, len(c.Refused), strings.Join(reasons, ", "))
}

// selectNew returns the requested hashtags that can be added to the list, and the outcome for each requested hashtag.
func (s *Service) selectNew(ctx context.Context, q db.Querier, call operation.Call, l List,
	hashtags []string) ([]string, HashtagListChange, error) {
	tags, rejected := parseHashtags(l.Platform, hashtags)
	present, err := findPresent(ctx, q, l.ID, tags)
	if err != nil {
		return nil, HashtagListChange{}, err
	}
	c := HashtagListChange{Added: []string{}, AlreadyPresent: []string{}, Refused: rejected}
	unknown := make([]string, 0, len(tags)-len(present))
	for _, tag := range tags {
		if present[tag] {
			c.AlreadyPresent = append(c.AlreadyPresent, tag)
		} else {
			unknown = append(unknown, tag)
		}
	}
	accepted, rest := s.banned.filter(l.Platform, unknown, s.remaining(call, l))
	c.Added, c.Refused = append(c.Added, accepted...), append(c.Refused, rest...)
	return accepted, c, nil
}

// remaining returns how many more hashtags the plan allows in the list, or a negative number if unlimited.
func (s *Service) remaining(call operation.Call, l List) int64 {
	p, _ := s.Catalog.Plan(call.Plan) // if the plan was removed, p allows no hashtags
	if p.HashtagsPerList == plan.Unlimited {
		return -1
	}
	return max(0, p.HashtagsPerList-l.Size)
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }

// appPage is the path of the hashtag lists page in the app.
const appPage = "/hashtags"

// appPath returns the path of a list's page in the app.
func appPath(l List) string { return appPage + "/" + formatID(l.ID) }

// apiPath returns the API path of a list.
func apiPath(l List) string { return "/hashtag-lists/" + formatID(l.ID) }
