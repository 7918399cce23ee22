package floor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The responses have the same members as pressroom's responses.
type (
	moment struct {
		Team string `json:"team"`
		UTC  string `json:"utc"`
	}
	named struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	keyEntry struct {
		ID    int64  `json:"id"`
		Name  string `json:"name"`
		Level string `json:"level"`
	}
	identity struct {
		Person          named    `json:"person"`
		Team            named    `json:"team"`
		Role            string   `json:"role"`
		Key             keyEntry `json:"key"`
		Capabilities    []string `json:"capabilities"`
		Timezone        string   `json:"timezone"`
		ContentLanguage string   `json:"content_language"`
	}
	page struct {
		Posts []summary `json:"posts"`
	}
	summary struct {
		ID          string    `json:"id"`
		Status      string    `json:"status"`
		ScheduledAt *moment   `json:"scheduled_at,omitempty"`
		PublishedAt *moment   `json:"published_at,omitempty"`
		Accounts    []account `json:"accounts"`
		Excerpt     string    `json:"excerpt"`
	}
	account struct {
		ID       int64  `json:"id"`
		Platform string `json:"platform"`
		Username string `json:"username"`

		position int
	}
	post struct {
		ID          string     `json:"id"`
		Status      string     `json:"status"`
		Caption     string     `json:"caption"`
		Media       []struct{} `json:"media"`
		ScheduledAt *moment    `json:"scheduled_at,omitempty"`
		PublishedAt *moment    `json:"published_at,omitempty"`
		Approval    string     `json:"approval"`
		Accounts    []target   `json:"accounts"`
		CreatedAt   moment     `json:"created_at"`
		UpdatedAt   moment     `json:"updated_at"`
	}
	target struct {
		ID          int64   `json:"id"`
		Platform    string  `json:"platform"`
		Username    string  `json:"username"`
		State       string  `json:"state"`
		PublishedAt *moment `json:"published_at,omitempty"`
		Permalink   string  `json:"permalink,omitempty"`
		Caption     *string `json:"caption,omitempty"`
		ErrorCode   string  `json:"error_code,omitempty"`
		RetriesLeft int     `json:"retries_left"`
	}
	envelope struct {
		Data any   `json:"data"`
		Meta meta  `json:"meta"`
		Page *next `json:"page,omitempty"`
	}
	meta struct {
		AppURL     string `json:"app_url"`
		AnsweredAt moment `json:"answered_at"`
		RequestID  string `json:"request_id"`
	}
	next struct {
		HasMore bool   `json:"has_more"`
		Cursor  string `json:"cursor"`
	}
)

func newMoment(t time.Time, zone *time.Location) moment {
	return moment{t.In(zone).Format(time.RFC3339Nano), t.UTC().Format(time.RFC3339Nano)}
}

// optionalMoment converts a stored time. It returns nil if micros is 0.
func optionalMoment(micros int64, zone *time.Location) *moment {
	if micros == 0 {
		return nil
	}
	m := newMoment(time.UnixMicro(micros), zone)
	return &m
}

// inTeam adds the team to the path of a page in the app.
func inTeam(path string, team int64) string { return path + "?team_id=" + strconv.FormatInt(team, 10) }

// respond sends a successful response.
func (f *Server) respond(x *request, zone *time.Location, status int, app string, data any, more *next) error {
	body, err := json.Marshal(envelope{
		Data: data, Page: more, Meta: meta{AppURL: f.publicURL + app, AnsweredAt: newMoment(x.now, zone), RequestID: x.id},
	})
	if err != nil {
		return fmt.Errorf("encoding the response: %w", err)
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", x.id)
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body) // the client may have disconnected
	return nil
}

// location sets the Location header.
func (f *Server) location(w http.ResponseWriter, path string) {
	w.Header().Set("Location", f.publicURL+"/api/v1"+path)
}
