package app

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/shell"
)

// marker is part of every name and text of the sample team, to detect leaks.
const marker = "Quillfeather"

// samples maps a path segment and parameter, such as "posts/{id}", to the ID of a sample item. It also has form values.
type samples map[string]string

// unknownIDs has well-formed IDs that do not exist.
var unknownIDs = samples{
	"assets{name}": "none.css", "files{token}": "AAAA", "files{name}": "none.png", "uploads{link}": "nobodys", "upload{batch}": nobody,
	"connect{token}": "AAAA", "callback{platform}": "bluesky", "choose{attempt}": "987654",
	"connected{account}": "987654", "approval{token}": "AAAA", "approvals{id}": nobody,
	"media{id}": "987654", "images{id}": "987654", "videos{id}": "987654", "passkeys{passkey}": "987654",
	"sessions{session}": "NOBODYSSESSION", "invitation{token}": "AAAA", "recovery{token}": "AAAA", "confirm-email{token}": "AAAA",
	"accounts{id}": "987654", "accounts{account}": "987654", "posts{id}": nobody, "hashtags{id}": "987654",
	"keys{key}": "987654", "assistants{connection}": "987654",
	"teams{team}": "987654", "deletions{code}": "NONE", "api{chapter}": "none", "notices{id}": "987654",
	"guides{name...}": "none", "docs{name...}": "none",
	"people{person}": "987654", "members{person}": "987654", "channels{channel}": "987654",
	"invitations{invitation}": "987654", "jobs{id}": "social_post:" + nobody, "reports{id}": nobody,
	"reports{token}": "AAAA", "links{link}": "987654", "recipients{recipient}": "987654",
	"unsubscribe{token}": "AAAA", "pictures{id}": "987654",
	"voices{id}": "987654", "material{material}": "987654",
	"folder": "987654", "doubtful": nobody,
}

const nobody = "01890000-0000-7000-8000-000000000000"

// sampleTeam creates a team with an item of each kind. Every name and text contains the marker.
func (h *env) sampleTeam(tb testing.TB) (*crew, samples) {
	tb.Helper()
	c := h.crew(tb)
	c.team.Name = marker + " Ltd"
	h.change(tb, `UPDATE teams SET name = ? WHERE id = ?`, c.team.Name, c.team.ID)
	h.change(tb,
		`UPDATE people SET name = 'Ada ' || ? WHERE id IN (SELECT person_id FROM memberships WHERE team_id = ?)`, marker, c.team.ID)
	h.change(tb, `UPDATE social_accounts SET username = ?, display_name = ? WHERE team_id = ?`, marker+".test", marker, c.team.ID)
	c.grant(tb, 1000)
	owner := c.as(tb, access.Owner)
	s := samples{
		"teams{team}": fmt.Sprint(c.team.ID), "callback{platform}": "bluesky", "choose{attempt}": "987654",
		"files{token}": "AAAA", "files{name}": "none.png", "deletions{code}": "MATRIX", "api{chapter}": "posts",
		"guides{name...}": "backup", "docs{name...}": "none",
	}
	s["accounts{id}"], s["accounts{account}"], s["connected{account}"] = c.id(), c.id(), c.id()
	s["people{person}"] = fmt.Sprint(c.people[access.Viewer].ID)
	s["members{person}"] = s["people{person}"]
	h.change(tb, `INSERT INTO network_deletions (code, app, accounts, asked_at) VALUES ('MATRIX', 'threads', 1, ?)`, db.Micros(h.now()))
	s["assets{name}"] = strings.TrimPrefix(regexp.MustCompile(`/assets/app-[0-9a-f]+\.css`).FindString(owner.open("/").source), "/assets/")
	c.samplePosts(tb, owner, s)
	c.sampleFiles(tb, owner, s)
	c.sampleWords(tb, s)
	c.samplePeople(tb, s)
	channel := must.Get(h.Notifications.AddChannel(tb.Context(), notification.NewChannel{
		Team: c.team.ID, Service: notification.Webhook, Name: marker, URL: "https://desk.example.com/hook",
	}))(tb)
	s["channels{channel}"] = fmt.Sprint(channel.ID)
	s["reports{id}"] = strings.TrimPrefix(owner.createReport(c, "profile", "instagram", "@Harbour_Cafe").path, "/reports/")
	s["reports{id}"], _, _ = strings.Cut(s["reports{id}"], "?")
	c.sampleLink(tb, owner, s)
	link, _ := c.callTool(tb, "get_connect_link", map[string]any{"platform": "bluesky"})["url"].(string)
	s["connect{token}"] = link[strings.LastIndex(link, "/")+1:]
	return c, s
}

// sampleLink shares the sample report.
func (c *crew) sampleLink(tb testing.TB, owner *browser, s samples) {
	tb.Helper()
	p := owner.openFinishedReport(c, "/reports/"+s["reports{id}"])
	p = p.follow("Share").form("Create link").press()
	link := regexp.MustCompile(`/shared/reports/([a-z0-9]+)`).FindStringSubmatch(p.source)
	s["reports{token}"], s["pictures{id}"] = link[1], "987654"
	s["recipients{recipient}"], s["unsubscribe{token}"] = "987654", "AAAA"
	var id int64
	must.NoError(tb, c.db.QueryRow(tb.Context(), `SELECT MAX(id) FROM report_links WHERE team_id = ?`, c.team.ID).Scan(&id))
	s["links{link}"] = fmt.Sprint(id)
}

// samplePosts creates a draft that waits for the client, and an unconfirmed post with its job.
func (c *crew) samplePosts(tb testing.TB, owner *browser, s samples) {
	tb.Helper()
	media := strings.TrimPrefix(c.addImage(tb, marker, 20), "/media/")
	film := c.addVideo(tb)
	s["media{id}"], s["images{id}"], s["videos{id}"] = media, media, strconv.FormatInt(film, 10)
	draft, _ := c.callTool(tb, "create_post",
		map[string]any{
			"caption": marker + " opens at eight.", "account_ids": []int64{c.account},
			"media_ids": []int64{int64(mustNumber(tb, media)), film},
		})["id"].(string)
	c.callTool(tb, "update_post", map[string]any{"id": draft, "scheduled_at": c.apiTime(48 * time.Hour)})
	s["posts{id}"] = draft
	asked := must.Get(c.Approvals.RequestPosts(tb.Context(), c.people[access.Owner].ID, approval.NewRequest{Posts: []string{draft}}))(tb)
	s["approvals{id}"], s["approval{token}"] = asked.ID, asked.Link[strings.LastIndex(asked.Link, "/")+1:]
	sent := c.draft(tb, marker+" is sent.", "")
	s["jobs{id}"], _ = c.callTool(tb, "publish_post", map[string]any{"post_id": sent})["job_id"].(string)
	owner.waitUntilPublished(sent)
	c.makeUnconfirmed(tb, sent)
	s["doubtful"] = sent
}

func (c *crew) sampleFiles(tb testing.TB, owner *browser, s samples) {
	tb.Helper()
	made := owner.open("/media/folder").form("Create folder").fill("name", marker).press()
	s["folder"] = strings.TrimPrefix(made.path, "/media?folder=")
	batch := c.callTool(tb, "create_uploads",
		map[string]any{"files": []map[string]any{{"name": marker + ".png", "content_type": "image/png", "size_bytes": 100}}})
	id, _ := batch["job_id"].(string)
	s["upload{batch}"] = strings.TrimPrefix(id, "media_import:")
	var link string
	must.NoError(tb, c.db.QueryRow(tb.Context(), `SELECT id FROM upload_files WHERE job_id = ?`, id).Scan(&link))
	s["uploads{link}"] = link
}

func (c *crew) sampleWords(tb testing.TB, s samples) {
	tb.Helper()
	s["hashtags{id}"] = strings.TrimPrefix(c.createHashtagList(tb, marker, "coffee"), "/hashtags/")
	s["voices{id}"] = fmt.Sprint(c.createVoice(tb, marker))
	actor := must.Get(c.Teams.InApp(tb.Context(), c.people[access.Owner].ID, c.team.ID))(tb)
	m := must.Get(c.Voices.AddMaterial(tb.Context(), operation.Call{Actor: actor, Now: c.now()},
		int64(mustNumber(tb, s["voices{id}"])), voice.NewMaterial{Text: marker + " wrote this."}))(tb)
	s["material{material}"] = fmt.Sprint(m.ID)
}

func (c *crew) samplePeople(tb testing.TB, s samples) {
	tb.Helper()
	ctx, ownerID := tb.Context(), c.people[access.Owner].ID
	key, _, err := c.Teams.AddKey(ctx, team.NewKey{Team: c.team.ID, Name: marker, Level: access.Full})
	must.NoError(tb, err)
	s["keys{key}"] = fmt.Sprint(key.ID)
	s["assistants{connection}"] = fmt.Sprint(c.connectAssistant(tb, access.Owner, marker, access.Read))
	offer, token, err := c.Teams.Invite(ctx, ownerID, c.team.ID, strings.ToLower(marker)+"@quay.example", access.Editor)
	must.NoError(tb, err)
	s["invitation{token}"], s["invitations{invitation}"] = token, fmt.Sprint(offer.ID)
	r := must.Get(c.Teams.Recover(ctx, c.people[access.Client].Email))(tb)
	s["recovery{token}"] = r.Token
	s["confirm-email{token}"] = "MATRIXPROOF"
	proof := apikey.Hash(s["confirm-email{token}"])
	c.change(tb, `INSERT INTO email_proofs (token_hash, person_id, created_at, expires_at) VALUES (?, ?, ?, ?)`,
		proof[:], ownerID, db.Micros(c.now()), db.Micros(c.now().Add(time.Hour)))
	c.change(tb,
		`INSERT INTO passkeys (person_id, credential_id, name, credential, created_at) VALUES (?, ?, ?, '{}', ?)`,
		ownerID, []byte(marker), marker, db.Micros(c.now()))
	var passkey, notice int64
	must.NoError(tb, c.db.QueryRow(ctx, `SELECT id FROM passkeys WHERE person_id = ?`, ownerID).Scan(&passkey))
	must.NoError(tb, c.db.QueryRow(ctx, `SELECT id FROM notices WHERE person_id = ? LIMIT 1`, ownerID).Scan(&notice))
	s["passkeys{passkey}"], s["notices{id}"] = fmt.Sprint(passkey), fmt.Sprint(notice)
	var session string
	must.NoError(tb, c.db.QueryRow(ctx, `SELECT id FROM sessions WHERE person_id = ? LIMIT 1`, ownerID).Scan(&session))
	s["sessions{session}"] = session
}

var named = regexp.MustCompile(`\{[a-z]+(\.\.\.)?\}`)

// path fills in the IDs in a path.
func (s samples) path(tb testing.TB, pattern string) string {
	tb.Helper()
	before := ""
	parts := strings.Split(strings.TrimSuffix(pattern, "{$}"), "/")
	for i, part := range parts {
		if !named.MatchString(part) {
			before = part
			continue
		}
		value, ok := s[before+part]
		if !ok {
			tb.Fatalf("%s: no sample for %s", pattern, before+part)
		}
		parts[i] = url.PathEscape(value)
	}
	return strings.Join(parts, "/")
}

// fill replaces names of samples in a form with their values.
func (s samples) fill(form url.Values) url.Values {
	out := url.Values{}
	for name, values := range form {
		for _, value := range values {
			if id, ok := s[value]; ok {
				value = id
			}
			out.Add(name, value)
		}
	}
	return out
}

// forms returns all forms that a person's pages contain, with their initial values, by the route of their action.
func (m *accessTest) forms(b *browser) map[string]url.Values {
	out := map[string]url.Values{}
	for _, route := range m.routes {
		method, path := m.methodAndPath(route, m.samples)
		if method != http.MethodGet || matrix[route].status > 0 || strings.HasSuffix(path, ".zip") || strings.HasPrefix(path, "/docs") ||
			path == "/live" { // a stream that does not end
			continue
		}
		page := b.open(path)
		for d := range page.doc.Descendants() {
			if d.Data != "form" || !strings.EqualFold(attribute(d, "method"), "post") {
				continue
			}
			to, _, _ := strings.Cut(attribute(d, "action"), "?")
			if to == "" {
				to = path
			}
			request := must.Get(http.NewRequestWithContext(m.t.Context(), http.MethodPost, to, nil))(m.t)
			_, pattern := m.mux.Handler(request)
			if matrix[pattern].who == "" {
				m.t.Errorf("%s has a form with the unknown action %s", path, to)
			}
			if out[pattern] == nil {
				out[pattern] = fields(d)
			}
		}
	}
	return out
}

// ofTeam reports whether an audience consists of members of a team.
func ofTeam(a shell.Audience) bool {
	return slices.Contains([]shell.Audience{
		staff, shell.Members, shell.Writers, shell.Publishers, shell.Spenders, shell.Managers, shell.Owners, shell.Clients,
	}, a)
}
