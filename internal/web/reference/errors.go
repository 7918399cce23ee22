package reference

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/api/problem"
)

// errorCodes are the codes of errors that match a query.
type errorCodes struct {
	Query  string // empty for all codes
	Groups []statusGroup
}

// statusGroup is a status with its codes.
type statusGroup struct {
	Status  int
	Name    string // such as Forbidden
	Entries []problem.Entry
}

func (p *Handlers) errors(w http.ResponseWriter, r *http.Request, b *book) {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	p.Show(w, r, http.StatusOK, pages["errors"], "Error reference",
		sheet{r.URL.Path, b.chapters, errorCodes{query, byStatus(problem.Entries(), query)}})
}

// byStatus groups the codes that match a query by their status.
func byStatus(entries []problem.Entry, query string) []statusGroup {
	words := strings.Fields(strings.ToLower(query))
	var out []statusGroup
	for _, e := range entries {
		code := string(e.Code)
		text := strings.ToLower(strings.Join([]string{code, strings.ReplaceAll(code, "_", " "), curly(e.Title),
			strconv.Itoa(e.Status), http.StatusText(e.Status)}, " "))
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, curly(word)) }) {
			continue
		}
		at := slices.IndexFunc(out, func(g statusGroup) bool { return g.Status == e.Status })
		if at < 0 {
			at, out = len(out), append(out, statusGroup{Status: e.Status, Name: http.StatusText(e.Status)})
		}
		out[at].Entries = append(out[at].Entries, e)
	}
	slices.SortFunc(out, func(a, b statusGroup) int { return cmp.Compare(a.Status, b.Status) })
	return out
}
