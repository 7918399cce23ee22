package erasure

import (
	"encoding/json"
	"net/http"
)

// metaAsks takes a request of Meta's to delete what is kept of a person, and answers where the person reads what
// became of it, as Meta wants it.
func (p *Part) metaAsks(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	code, err := p.leaving.HandleMetaRequest(r.Context(), r.PostForm.Get("signed_request"))
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).
		Encode(map[string]string{"url": p.PublicURL + "/networks/deletions/" + code, "confirmation_code": code}) //nolint:errchkjson // texts; the client may be gone
}

func (p *Part) erased(w http.ResponseWriter, r *http.Request) {
	found, err := p.leaving.ErasureStatus(r.Context(), r.PathValue("code"))
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	found.At = found.At.UTC()
	p.Show(w, r, http.StatusOK, pages["erased"], "Deletion request", found)
}
