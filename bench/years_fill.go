package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

//go:embed years.sql
var yearsSQL string

// years describes how much data an instance has. All numbers depend on the number of teams. The first two teams, which
// admin commands create, are the large team, with a tenth of all data, and an average team.
type years struct {
	Teams    int
	Now      int64 // in microseconds, like all times
	Postgres bool
}

// The average data of a team after three years, and hashtag data per team.
const (
	postsPerTeam        = 5000
	hashtagsPerTeam     = 2000
	hashtagPostsPerTeam = 3000
	linksOfPost         = 5
	accountsPerTeam     = 4
	reportsPerTeam      = 20
	listsPerTeam        = 20
	paidCallsPerTeam    = 200
	mediaPerTurn        = 30 // a number per turn (see years.turn), so that a post's files belong to the post's team
	threeYears          = 3 * 365 * 24 * time.Hour
	fullTeams           = 1000 // with 5 million posts and 20 million rows of hashtag data
)

func (y years) MoreTeams() int       { return max(y.Teams-2, 0) }
func (y years) Posts() int           { return postsPerTeam * y.Teams }
func (y years) HalfPosts() int       { return y.Posts() / 2 }
func (y years) Targets() int         { return 2 * y.Posts() }
func (y years) Failures() int        { return y.Posts() / 50 }
func (y years) Accounts() int        { return accountsPerTeam * y.Teams }
func (y years) Folders() int         { return 10 * y.Teams }
func (y years) Media() int           { return mediaPerTurn * y.turn() }
func (y years) PaidCalls() int       { return paidCallsPerTeam * y.Teams }
func (y years) Reports() int         { return reportsPerTeam * y.Teams }
func (y years) Lists() int           { return listsPerTeam * y.Teams }
func (y years) Searches() int        { return 50 * y.Teams }
func (y years) Voices() int          { return 5 * y.Teams }
func (y years) Hashtags() int        { return hashtagsPerTeam * y.Teams }
func (y years) HashtagPosts() int    { return hashtagPostsPerTeam * y.Teams }
func (y years) figures() int         { return y.Hashtags() + y.HashtagPosts() + linksOfPost*y.HashtagPosts() }
func (y years) turn() int            { return 10 * (y.Teams - 1) } // number of posts after which the order of the teams repeats
func (y years) Step() int64          { return threeYears.Microseconds() / int64(postsPerTeam*fullTeams) }
func (y years) PaidStep() int64      { return y.Step() * postsPerTeam / paidCallsPerTeam }
func (y years) ReportStep() int64    { return y.Step() * postsPerTeam / reportsPerTeam }
func (y years) First() int64         { return y.Now - y.Step()*int64(y.Posts()) - time.Hour.Microseconds() }
func (y years) Far() int64           { return micros(farFuture) }
func (y years) path(i string) string { return fmt.Sprintf("((%s) / 10)", i) }

// funcs returns the functions for the template with the statements.
func (y years) funcs() template.FuncMap {
	choose := func(sqlite, postgres string) string {
		if y.Postgres {
			return postgres
		}
		return sqlite
	}
	series := func(name string, n int) string {
		return fmt.Sprintf(choose("(WITH RECURSIVE c (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i + 1 < "+
			"%[2]d) SELECT i FROM c LIMIT %[2]d) AS %[1]s",
			"generate_series(0::bigint, %[2]d - 1) AS %[1]s (i)"), name, n)
	}
	hex := func(expr string, width int) string {
		return fmt.Sprintf(choose("printf('%%0%[2]dx', %[1]s)", "lpad(to_hex((%[1]s)::bigint), %[2]d, '0')"), expr, width)
	}
	mix := func(expr string, below int) string {
		return fmt.Sprintf("((((%s) %% 1000003) * 48271 %% 2147483647) %% %d)", expr, below)
	}
	// id returns a UUIDv7 with the given time. Different kinds make the IDs of different tables distinct.
	id := func(kind int, millis, number string) string {
		return fmt.Sprintf("SUBSTR(%[1]s, 1, 8) || '-' || SUBSTR(%[1]s, 9, 4) || '-7%03[2]d-8%03[2]d-' || %[3]s",
			hex(millis, 12), kind, hex(number, 12))
	}
	at := func(i string, step int64) string { return fmt.Sprintf("(%d + (%s) * %d) / 1000", y.First(), i, step) }
	team := func(i string) string {
		return fmt.Sprintf("(CASE WHEN (%[1]s) %% 10 = 0 THEN 1 ELSE 2 + %[2]s %% %[3]d END)", i, y.path(i), y.Teams-1)
	}
	return template.FuncMap{
		"series":   func(n int) string { return series("g", n) },
		"seriesAs": series,
		"mix":      mix,
		"team":     team,
		"status": func(i string) string {
			return fmt.Sprintf("(CASE WHEN %[1]s < 20 THEN 'draft' WHEN %[1]s < 28 THEN 'scheduled' WHEN %[1]s < 30 "+
				"THEN 'failed' ELSE 'published' END)", mix(y.path(i)+" * 7 + "+i, 100))
		},
		"account": func(i, position string) string {
			return fmt.Sprintf("(1 + 4 * (%s - 1) + (%s + %s) %% 4)", team(i), y.path(i), position)
		},
		"mediaOf":    func(i string) string { return fmt.Sprintf("(%s) %% %d", i, y.Media()) },
		"postID":     func(i string) string { return id(1, at(i, y.Step()), i) },
		"deliveryID": func(i, position string) string { return id(2, at(i, y.Step()), "2 * ("+i+") + "+position) },
		"reportID":   func(i string) string { return id(3, at(i, y.ReportStep()), i) },
		"hashtag": func(i string) string {
			return word(mix(i, 32)) + " || " + word(mix("("+i+") / 40", 32)) + " || (" + i + ")"
		},
		"word": func(i string) string { return word(mix(i, 32)) },
		"bytes": func(expr string) string {
			return fmt.Sprintf(choose("CAST(%s AS BLOB)", "convert_to(%s, 'UTF8')"), expr)
		},
		"lower":   func(expr string) string { return "LOWER(" + expr + ")" },
		"newline": func() string { return choose("char(10)", "chr(10)") },
	}
}

// sixLetterWords is a sequence of words that have six letters each.
const sixLetterWords = "coffeebakeryharborsunsetgardentravelsummerwintermarketdesignstudiovintagfloralsocialorgani" +
	"vegansrusticmodernlovelygoldensilverurbaneforestmeadowislandsaltedcreamydoughyroastespressbaristcandle"

func word(number string) string {
	return fmt.Sprintf("SUBSTR('%s', 1 + 6 * CAST(%s AS INTEGER), 6)", sixLetterWords, number)
}

// statements returns the statements that fill the database, each with its name.
func (y years) statements() ([][2]string, error) {
	t, err := template.New("years").Funcs(y.funcs()).Parse(yearsSQL)
	if err != nil {
		return nil, fmt.Errorf("reading years.sql: %w", err)
	}
	var text strings.Builder
	if err := t.Execute(&text, y); err != nil {
		return nil, fmt.Errorf("executing the template years.sql: %w", err)
	}
	var out [][2]string
	for part := range strings.SplitSeq(text.String(), "\n;\n") {
		at := strings.LastIndex(part, "\n-- ")
		name, statement, _ := strings.Cut(part[at+len("\n-- "):], "\n")
		out = append(out, [2]string{name, statement})
	}
	return out, nil
}

// fill executes every statement, each in its own transaction.
func (y years) fill(ctx context.Context, conn *sql.Conn, s *sample, report func(name string, rows int64, took time.Duration)) error {
	if err := s.insert(ctx, conn, y.Postgres); err != nil {
		return err
	}
	statements, err := y.statements()
	if err != nil {
		return err
	}
	for _, one := range statements {
		began := time.Now()
		done, err := conn.ExecContext(ctx, one[1])
		if err != nil {
			return fmt.Errorf("filling %s: %w", one[0], err)
		}
		rows, _ := done.RowsAffected() // both drivers support it
		report(one[0], rows, time.Since(began))
	}
	return nil
}

// sample contains texts and report posts that pressroom created for a demo team.
type sample struct {
	texts map[string]string
	posts [][]any // posts in the demo team's report
}

const sampleQuery = `SELECT r.account, r.analysis, r.notes, v.guide FROM reports r, brand_voices v
		WHERE r.status = 'ready' ORDER BY v.id LIMIT 1`

// takeSample starts pressroom with a demo team, and reads the team's data when its report is ready.
func takeSample(ctx context.Context, binary string) (sample, error) {
	out := sample{texts: map[string]string{}}
	data := filepath.Join(workDir, "sample")
	if err := os.RemoveAll(data); err != nil {
		return out, fmt.Errorf("creating a demo team: %w", err)
	}
	addr, err := freeAddress()
	if err != nil {
		return out, err
	}
	cmd := exec.CommandContext(ctx, binary, "--log-level=warn", "quickstart", "--data", data, "--addr", addr)
	cmd.Env = cleanEnv()
	if err := cmd.Start(); err != nil {
		return out, fmt.Errorf("creating a demo team: %w", err)
	}
	demo := &process{name: "quickstart", cmd: cmd}
	return out, errors.Join(out.read(ctx, filepath.Join(data, "pressroom.db")), demo.stop())
}

func (s *sample) read(ctx context.Context, path string) error {
	for until := time.Now().Add(startTimeout); ; {
		err := s.readOnce(ctx, path)
		if err == nil || time.Now().After(until) || ctx.Err() != nil {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func (s *sample) readOnce(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("the demo team: %w", err)
	}
	db, err := openBulk(ctx, "sqlite:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	var account, analysis, notes, guide string
	if err := db.QueryRowContext(ctx, sampleQuery).Scan(&account, &analysis, &notes, &guide); err != nil {
		return fmt.Errorf("reading the demo team's report: %w", err)
	}
	s.texts["account"], s.texts["analysis"], s.texts["notes"], s.texts["guide"] = account, analysis, notes, guide
	s.posts, err = rowsOf(ctx, db, `SELECT shown, post, taken_at, format, caption, url, likes, comments, views FROM report_posts`, 9)
	return err
}

func rowsOf(ctx context.Context, db *sql.DB, query string, columns int) ([][]any, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("reading the demo team's report: %w", err)
	}
	defer rows.Close()
	var out [][]any
	for rows.Next() {
		row, into := make([]any, columns), make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("reading the demo team's report: %w", err)
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// insert writes the sample to temporary tables, which belong to the connection.
func (s *sample) insert(ctx context.Context, conn *sql.Conn, postgres bool) error {
	for _, statement := range []string{
		`CREATE TEMPORARY TABLE grown_texts (name TEXT, text TEXT)`,
		`CREATE TEMPORARY TABLE grown_captions (n BIGINT PRIMARY KEY, caption TEXT, excerpt TEXT)`,
		`CREATE TEMPORARY TABLE grown_report_posts (shown TEXT, post TEXT, taken_at BIGINT, format TEXT, caption TEXT, url TEXT,
			likes BIGINT, comments BIGINT, views BIGINT)`,
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("writing the sample: %w", err)
		}
	}
	rows := map[string][][]any{"grown_report_posts": s.posts}
	for name, text := range s.texts {
		rows["grown_texts"] = append(rows["grown_texts"], []any{name, text})
	}
	for i := range 1000 {
		rows["grown_captions"] = append(rows["grown_captions"], []any{i, caption(i), excerptOf(caption(i))})
	}
	for table, all := range rows {
		for _, row := range all {
			if err := insertRow(ctx, conn, table, row, postgres); err != nil {
				return err
			}
		}
	}
	return nil
}

func insertRow(ctx context.Context, conn *sql.Conn, table string, row []any, postgres bool) error {
	marks := make([]string, len(row))
	for i := range row {
		marks[i] = "?"
		if postgres {
			marks[i] = fmt.Sprintf("$%d", i+1)
		}
	}
	if _, err := conn.ExecContext(ctx, "INSERT INTO "+table+" VALUES ("+strings.Join(marks, ", ")+")", row...); err != nil {
		return fmt.Errorf("writing the sample to %s: %w", table, err)
	}
	return nil
}
