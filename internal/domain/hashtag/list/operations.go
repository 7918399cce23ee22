package list

import (
	"net/http"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/report/hashtaganalysis"
)

// The inputs of the operations.
type (
	// ListInput filters the lists.
	ListInput struct {
		Scope    string  `json:"scope,omitempty" enum:"own|system|all" default:"all" jsonschema:"own: the team's own lists; system: the ready-made ones; all: both."`
		Platform string  `json:"platform,omitempty" enum:"instagram|tiktok" jsonschema:"Only lists for this network, and those for all networks, whose entries have no platform."`
		Cursor   *string `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the answer before."`
		Limit    int     `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items a page."`
	}
	// GetInput names a list.
	GetInput struct {
		ListID int64 `json:"list_id" jsonschema:"The list's id, of one of the team's own lists or of a ready-made one."`
	}
	// CreateInput is a new list.
	CreateInput struct {
		Name     string   `json:"name" minLength:"1" maxLength:"50" jsonschema:"What people call it."`
		Platform string   `json:"platform,omitempty" enum:"instagram|tiktok" jsonschema:"The network that it is for; tied to none where omitted."`
		Color    string   `json:"color,omitempty" pattern:"^#[0-9a-fA-F]{6}$" jsonschema:"# and six hexadecimal digits."`
		Icon     string   `json:"icon,omitempty" maxLength:"60" pattern:"^ri-[a-z0-9-]+$" jsonschema:"ri- and a name of Remix Icon, such as ri-plane-line."`
		Hashtags []string `json:"hashtags,omitempty" maxItems:"5000" jsonschema:"With or without #. What is none is refused, and named in the answer."`
	}
	// AddInput is hashtags for a list.
	AddInput struct {
		ListID      int64    `json:"list_id" jsonschema:"The list's id, of one of the team's own lists."`
		Hashtags    []string `json:"hashtags" maxItems:"5000" jsonschema:"With or without #. What is none is refused, and named in the answer."`
		Subcategory string   `json:"subcategory,omitempty" maxLength:"50" jsonschema:"A label by which these hashtags are grouped in this list. Those that are in it already stay as they are."`
	}
)

// The answers of the operations.
type (
	// Entry is a list as clients read it (contract, Records).
	Entry struct {
		ID        int64  `json:"id"`
		Name      string `json:"name"`
		Platform  string `json:"platform,omitempty" enum:"instagram|tiktok" jsonschema:"The network that the list is for. Left out if it is for all networks; such a list is in the answer for every platform."`
		Size      int64  `json:"size" jsonschema:"How many hashtags it holds."`
		ReadyMade bool   `json:"ready_made" jsonschema:"Whether it comes with the service; such a list cannot be changed."`
		Color     string `json:"color,omitempty"`
		Icon      string `json:"icon,omitempty" jsonschema:"ri- and a name of Remix Icon."`
	}
	// Lists is a page of lists.
	Lists struct {
		HashtagLists []Entry `json:"hashtag_lists"`
	}
	// Hashtag is a hashtag of an opened list.
	Hashtag struct {
		stats.Shown

		Platform    string `json:"platform,omitempty" enum:"instagram|tiktok" jsonschema:"Where its figures come from; in lists that are tied to no network alone."`
		Subcategory string `json:"subcategory,omitempty" jsonschema:"The label by which it is grouped in this list."`
	}
	// Opened is a list with all that it holds.
	Opened struct {
		Entry

		Hashtags []Hashtag `json:"hashtags" jsonschema:"All of them, in the order in which they were added."`

		hashtagsJSON []byte // Hashtags as JSON; nil where nobody has written it yet
	}
	// Changed is a list and what became of the hashtags that were sent.
	Changed struct {
		Entry

		Added          []string  `json:"added"`
		AlreadyPresent []string  `json:"already_present"`
		Refused        []Refused `json:"refused"`
	}
)

func entry(l List) Entry {
	return Entry{ID: l.ID, Name: l.Name, Platform: l.Platform, Size: l.Size, ReadyMade: l.isReadyMade(), Color: l.Color, Icon: l.Icon}
}

// Operations declares what clients can do with hashtag lists.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_hashtag_lists", Method: http.MethodGet, Path: "/hashtag-lists", Needs: access.Read, Success: http.StatusOK,
			Summary:     "Hashtag lists",
			Description: "The team's own hashtag lists, the newest first, and behind them the ready-made ones. Look here before search_hashtags, as what is there costs nothing. Lists that are tied to no network are there whatever the platform.",
			Next:        "get_hashtag_list opens one.",
			Listing:     &operation.Listing{Member: "hashtag_lists", Item: "get_hashtag_list", Arguments: map[string]string{"list_id": "id"}, Label: []string{"name", "platform"}},
			Example:     operation.Example{Arguments: map[string]any{"scope": "own", "limit": 1}, Data: Lists{[]Entry{exampleEntry}}},
		}, s.lists),
		operation.Define(operation.Spec{
			Tool: "get_hashtag_list", Method: http.MethodGet, Path: "/hashtag-lists/{list_id}", Needs: access.Read, Success: http.StatusOK,
			Summary:     "A hashtag list",
			Description: "A list with all of its hashtags, and what is known of each: how many posts carry it, measured or estimated, how many come in a day, its tier and score. Use it to choose hashtags for a post. Figures that are not known yet are left out.",
			Next:        "Take a few large ones and more small ones. A ready-made list cannot be added to: create_hashtag_list makes the team's own.",
			Example:     operation.Example{Arguments: map[string]any{"list_id": exampleEntry.ID}, Data: Opened{Entry: exampleEntry, Hashtags: exampleHashtags}},
		}, s.get),
		operation.Define(operation.Spec{
			Tool: "create_hashtag_list", Method: http.MethodPost, Path: "/hashtag-lists", Needs: access.Write, Key: operation.KeyOptional, Success: http.StatusCreated,
			Ahead:       operation.Beforehand(s.enqueueForCreate),
			Summary:     "Create a hashtag list",
			Description: "Makes a list, with hashtags or empty. Hashtags that are refused are named in the answer with the reason; the rest is added. Unknown ones get their figures later. Without an Idempotency-Key each call makes another list. Charges nothing; how many lists there may be and how long they may get is the plan's affair.",
			Next:        "add_hashtags adds more later. plan_limit_reached: the plan takes no further list.",
			Example: operation.Example{Arguments: map[string]any{"name": exampleEntry.Name, "platform": "instagram", "color": "#C0643A", "icon": exampleEntry.Icon, "hashtags": []string{"#coffee", "Latteart", "flat white"}},
				Data: Changed{exampleEntry, []string{"coffee", "latteart"}, []string{}, []Refused{{"flat white", reasonCharacters}}}},
		}, s.create),
		operation.Define(operation.Spec{
			Tool: "add_hashtags", Method: http.MethodPost, Path: "/hashtag-lists/{list_id}/hashtags", Needs: access.Write, Key: operation.KeyOptional, Success: http.StatusOK,
			Ahead:       operation.Beforehand(s.enqueueForAdd),
			Summary:     "Add hashtags to a list",
			Description: "Adds hashtags to one of the team's own lists. Those that are in it already stay as they are, so that a repeat changes nothing. Hashtags that are refused are named in the answer with the reason. Unknown ones get their figures later. Charges nothing.",
			Next:        "The answer tells which were added, which were there and which were refused: list_full is the plan's limit. wrong_state: ready-made lists cannot be changed; create_hashtag_list makes the team's own.",
			Repeatable:  true,
			Example: operation.Example{Arguments: map[string]any{"list_id": exampleEntry.ID, "hashtags": []string{"coffee", "#espresso"}, "subcategory": "Drinks"},
				Data: Changed{exampleGrown, []string{"espresso"}, []string{"coffee"}, []Refused{}}},
		}, s.add),
	}
}

var (
	exampleEntry    = Entry{ID: 1_000_017, Name: "Coffee", Platform: "instagram", Size: 2, Color: "#c0643a", Icon: "ri-cup-line"}
	exampleGrown    = Entry{ID: 1_000_017, Name: "Coffee", Platform: "instagram", Size: 3, Color: "#c0643a", Icon: "ri-cup-line"}
	exampleHashtags = []Hashtag{
		{Shown: stats.Shown{Hashtag: "coffee", Posts: &hashtaganalysis.Posts{Count: 182_000_000, Basis: "measured"}, PostsPerDay: new(21_400.0), Tier: "huge", Score: new(64.0)}},
		{Shown: stats.Shown{Hashtag: "latteart"}, Subcategory: "Drinks"},
	}
)
