package compose

import (
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/web/shell"
)

// Limits of the hashtag lists that the editor offers.
const (
	offeredLists    = 20
	offeredHashtags = 200 // hashtags per list
	addedAtOnce     = 30  // maximum number of hashtags that one click adds; Instagram's limit per post
)

// hashtagList is a list that the editor offers.
type hashtagList struct {
	ID       int64
	Name     string
	Hashtags []string
}

// ReadyMadeLists provides the hashtag lists that come with the service.
type ReadyMadeLists interface {
	ReadyMadeIn(language string) []list.ReadyMade
}

// hashtagPanel has the team's lists, and the ready-made lists in the team's language.
type hashtagPanel struct{ Own, Ready []hashtagList }

// AddedAtOnce returns how many hashtags a click on the list adds.
func (l hashtagList) AddedAtOnce() int { return min(len(l.Hashtags), addedAtOnce) }

// hashtags serves the hashtag lists to the page's script.
func (p *Handlers) hashtags(w http.ResponseWriter, r *http.Request) {
	own, err := p.hashtagLists(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	call, err := p.NewCall(r, "hashtag_lists")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	lists := hashtagPanel{Own: own}
	for _, l := range p.readyMade.ReadyMadeIn(call.Language) {
		lists.Ready = append(lists.Ready, hashtagList{l.ID, l.Name, l.Hashtags[:min(len(l.Hashtags), offeredHashtags)]})
	}
	p.ShowPart(w, r, pages["compose"], "hashtags", lists)
}

// hashtagLists returns the team's latest nonempty lists.
func (p *Handlers) hashtagLists(r *http.Request) ([]hashtagList, error) {
	found, _, err := shell.Run[list.HashtagLists](p.Shell, r, "list_hashtag_lists",
		operation.Arguments{"scope": "own", "limit": int64(offeredLists)})
	if err != nil {
		return nil, err
	}
	var out []hashtagList
	for _, e := range found.HashtagLists {
		full, _, err := shell.Run[list.HashtagList](p.Shell, r, "get_hashtag_list", operation.Arguments{"list_id": e.ID})
		if apierr.Is(err, apierr.NotFound) { // deleted in the meantime
			continue
		}
		if err != nil {
			return nil, err
		}
		l := hashtagList{ID: e.ID, Name: e.Name}
		for _, h := range full.Hashtags[:min(len(full.Hashtags), offeredHashtags)] {
			l.Hashtags = append(l.Hashtags, h.Hashtag)
		}
		if len(l.Hashtags) > 0 {
			out = append(out, l)
		}
	}
	return out, nil
}
