package post

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// Validation is the result of validate_post.
type Validation struct {
	Problems           []PostProblem `json:"problems"`
	WaitsForApproval   bool          `json:"waits_for_approval"`
	PostsLeftThisMonth int64         `json:"posts_left_this_month" jsonschema:"Posts left in the plan this month; -1 without a limit."`
}

func (s *Service) validate(ctx context.Context, call operation.Call,
	in ValidateInput) (operation.Response[Validation], error) {
	p, err := s.read(ctx, s.db, call.TeamID, in.PostID, "")
	if err != nil {
		return operation.Response[Validation]{}, err
	}
	if in.AccountID != nil && !slices.ContainsFunc(p.Targets, func(t Target) bool {
		return t.AccountID == *in.AccountID
	}) {
		return operation.Response[Validation]{}, apierr.ItemNotFound().With("argument", "account_id")
	}
	left, err := s.postsLeft(ctx, s.db, call, call.Now)
	if err != nil {
		return operation.Response[Validation]{}, err
	}
	validation := Validation{Problems: s.problems(call, p, in.AccountID), WaitsForApproval: p.needsApproval(),
		PostsLeftThisMonth: left}
	return operation.Response[Validation]{App: "/posts/" + p.ID, Data: validation, Summary: p.summarizeValidation(validation,
		in.AccountID)}, nil
}

// problems returns the blocking and other problems of a post. If accountID is set, it checks only that account.
func (s *Service) problems(call operation.Call, p Record, accountID *int64) []PostProblem {
	out := []PostProblem{}
	if p.Status == Draft && !p.IsTemplate && !p.ScheduledAt.IsZero() && !p.ScheduledAt.After(call.Now) {
		out = append(out, PostProblem{Code: "time_in_the_past", Message: "The planned time is in the past."})
	}
	if len(p.Targets) == 0 {
		out = append(out, PostProblem{Code: "accounts_missing", Blocking: true,
			Message: "The post has no account. Choose one."})
	}
	for _, t := range p.Targets {
		if accountID != nil && t.AccountID != *accountID {
			continue
		}
		if !t.Active {
			out = append(out, PostProblem{Code: codeAccountInactive, Blocking: true, AccountID: t.AccountID,
				Message: "The account is disconnected. Reconnect it in the app."})
		}
		out = append(out, s.contentProblems(p, t, call.Language)...)
	}
	return out
}

const codeAccountInactive = "account_inactive"

// contentProblems returns the blocking and other problems of the post's content on a target's network.
func (s *Service) contentProblems(p Record, t Target, language string) []PostProblem {
	n, err := s.accounts.Network(t.Platform)
	if err != nil {
		return []PostProblem{{Code: codeAccountInactive, Blocking: true, AccountID: t.AccountID,
			Message: "This installation does not support the account's network."}}
	}
	out := []PostProblem{}
	rules, known := s.accounts.Rules(t.Platform)
	if len(p.Thread) > 0 && (!known || !rules.Thread) {
		out = append(out, PostProblem{Code: "thread_not_supported", Blocking: true, AccountID: t.AccountID,
			Message: cmp.Or(rules.Title, t.Platform) + " has no threads. Remove the other parts, or remove the account."})
		return out
	}
	if p.FirstComment != "" {
		limits := rules.ForOptions(t.Platform, p.effectiveOptions())
		for _, problem := range comment.Check(n, limits, p.PartContent(t, language, comment.Part)) {
			out = append(out, newProblem(t.AccountID, comment.Part, problem))
		}
	}
	if attachment.LacksOptions(p.Options, p.OptionMedia, t.Platform) {
		out = append(out, PostProblem{Code: "media_missing", Blocking: true, AccountID: t.AccountID,
			Message: "An image that the options of this post use has been deleted from the library. Choose another."})
	}
	for part := range p.PartCount() {
		content := p.PartContent(t, language, part)
		if slices.ContainsFunc(content.Media, attachment.IsDeleted) {
			out = append(out, PostProblem{Code: "media_missing", Blocking: true, AccountID: t.AccountID, Part: part,
				Message: "A file of this post has been deleted from the library."})
		}
		for _, problem := range n.Check(content) {
			out = append(out, newProblem(t.AccountID, part, problem))
		}
	}
	return out
}

// checkContent returns an error if the post has a blocking problem.
func (s *Service) checkContent(call operation.Call, p Record) error {
	return rejectBlocking(s.problems(call, p, nil))
}

// checkTargetContent returns an error if one of the targets has a blocking problem. Retries are checked too, because
// the networks' rules may have changed.
func (s *Service) checkTargetContent(call operation.Call, p Record, targets []Target) error {
	problems := []PostProblem{}
	for _, t := range targets {
		problems = append(problems, slices.DeleteFunc(s.contentProblems(p, t, call.Language), func(found PostProblem) bool {
			return t.State == TargetPublished && !found.FirstComment && found.Code != codeAccountInactive // Only the comment is sent.
		})...)
	}
	return rejectBlocking(problems)
}

// rejectBlocking returns an error that lists the blocking problems, or nil if there are none.
func rejectBlocking(problems []PostProblem) error {
	codes := []string{}
	for _, problem := range problems {
		if problem.Blocking && !slices.Contains(codes, problem.Code) {
			codes = append(codes, problem.Code)
		}
	}
	if len(codes) == 0 {
		return nil
	}
	return apierr.New(apierr.PreflightBlocked,
		"A network would reject the post, so nothing was sent. For details, validate it with "+
			"validate_post or GET /posts/{post_id}/validation: "+
			strings.Join(codes, ", ")+".").With("problems", codes)
}

// postsLeft returns how many more posts the plan allows in the month that contains at, or plan.Unlimited.
func (s *Service) postsLeft(ctx context.Context, q db.Querier, call operation.Call, at time.Time) (int64, error) {
	p, _ := s.catalog.Plan(call.Plan)
	limit := p.PostsPerMonth
	if limit == plan.Unlimited {
		return plan.Unlimited, nil
	}
	first, next := teamtime.Month(at, call.Zone)
	var used int64
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM posts WHERE team_id = ? AND slot_at >= ? AND slot_at < ?
		AND slot_at > 0 AND status <> 'draft'`, call.TeamID, db.Micros(first), db.Micros(next)).Scan(&used)
	if err != nil {
		return 0, fmt.Errorf("counting the month's posts: %w", err)
	}
	return max(0, limit-used), nil
}

// checkAllowance returns an error if the plan does not allow another post in the month that contains at. It locks the
// team's row, so that two calls cannot both use the last remaining post.
func (s *Service) checkAllowance(ctx context.Context, tx *db.Tx, call operation.Call, at time.Time) error {
	var id int64
	if err := tx.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`+s.db.ForUpdate(),
		call.TeamID).Scan(&id); err != nil {
		return fmt.Errorf("locking the team: %w", err)
	}
	left, err := s.postsLeft(ctx, tx, call, at)
	if err != nil {
		return err
	}
	if left == 0 {
		return apierr.New(apierr.PlanLimitReached, "The plan's post limit for that month has been reached.").With("limit",
			"posts_per_month")
	}
	return nil
}

// checkNewContent returns an error if the post cannot be changed to the desired content.
func (p Record) checkNewContent(desired Record) error {
	if err := desired.checkCovers(); err != nil {
		return err
	}
	if len(desired.Targets) == 0 && (p.Status == Scheduled || p.IsTemplate) {
		return errNoAccount
	}
	return nil
}

// checkCovers returns an error if a cover time is after the end of its video.
func (p Record) checkCovers() error {
	for _, m := range p.AllMedia() {
		if m.Duration > 0 && m.Cover > m.Duration {
			return apierr.Invalid(apierr.OutOfRange, fmt.Sprintf("cover-%d", m.ID),
				"The cover time is not within the video.")
		}
	}
	return nil
}
