package list

import (
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
)

// The inputs of the operations.
type (
	// ListInput is the input of list_hashtag_lists.
	ListInput struct {
		Scope    string  `json:"scope,omitempty" enum:"own|system|all" title:"HashtagListScope" default:"all"`
		Platform string  `json:"platform,omitempty" enum:"instagram|tiktok" title:"AnalysisPlatform"`
		Cursor   *string `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the previous response."`
		Limit    int     `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items per page."`
	}
	// GetInput is the input of get_hashtag_list.
	GetInput struct {
		ListID int64 `json:"list_id" jsonschema:"ID of a team's list or a ready-made list."`
	}
	// CreateInput is the input of create_hashtag_list.
	CreateInput struct {
		Name     string   `json:"name" minLength:"1" maxLength:"50" jsonschema:"Display name."`
		Platform string   `json:"platform,omitempty" enum:"instagram|tiktok" title:"AnalysisPlatform"`
		Color    string   `json:"color,omitempty" pattern:"^#[0-9a-fA-F]{6}$" jsonschema:"Hex color, such as #c0643a."`
		Icon     string   `json:"icon,omitempty" maxLength:"60" pattern:"^ri-[a-z0-9-]+$"`
		Hashtags []string `json:"hashtags,omitempty" maxItems:"5000" jsonschema:"With or without #."`
	}
	// AddInput is the input of add_hashtags.
	AddInput struct {
		ListID      int64    `json:"list_id" jsonschema:"ID of a team's list."`
		Hashtags    []string `json:"hashtags" maxItems:"5000" jsonschema:"With or without #."`
		Subcategory string   `json:"subcategory,omitempty" maxLength:"50" jsonschema:"Group for the new hashtags."`
	}
)

// Descriptions returns descriptions of the fields for the JSON schema.
func (ListInput) Descriptions() map[string]string {
	return map[string]string{
		"scope":    "own: the team's lists; system: ready-made lists.",
		"platform": "Only lists for this network or for all networks.",
	}
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (CreateInput) Descriptions() map[string]string {
	return map[string]string{
		"platform": "Network of the list. Omit for all networks.",
		"icon":     "Remix Icon name, such as ri-plane-line.",
	}
}

// The responses of the operations.
type (
	// HashtagListEntry is a list without its hashtags.
	HashtagListEntry struct {
		ID        int64  `json:"id"`
		Name      string `json:"name"`
		Platform  string `json:"platform,omitempty" enum:"instagram|tiktok" title:"AnalysisPlatform"`
		Size      int64  `json:"size" jsonschema:"Number of hashtags."`
		ReadyMade bool   `json:"ready_made" jsonschema:"Whether the list comes with the service. Such a list cannot be changed."`
		Color     string `json:"color,omitempty"`
		Icon      string `json:"icon,omitempty" jsonschema:"Remix Icon name."`
	}
	// HashtagLists is a page of lists.
	HashtagLists struct {
		HashtagLists []HashtagListEntry `json:"hashtag_lists"`
	}
	// ListedHashtag is a hashtag in a list.
	ListedHashtag struct {
		stats.HashtagSummary

		Platform    string `json:"platform,omitempty" enum:"instagram|tiktok" title:"AnalysisPlatform"`
		Subcategory string `json:"subcategory,omitempty" jsonschema:"Group within the list."`
	}
	// HashtagList is a list with its hashtags.
	HashtagList struct {
		HashtagListEntry

		Hashtags []ListedHashtag `json:"hashtags" jsonschema:"All hashtags, in the order in which they were added."`

		hashtagsJSON []byte // Hashtags as JSON; nil if not encoded yet
	}
	// HashtagListChange is a list and the outcome for each hashtag of a request.
	HashtagListChange struct {
		HashtagListEntry

		Added          []string                   `json:"added"`
		AlreadyPresent []string                   `json:"already_present"`
		Refused        []HashtagListChangeRefused `json:"refused"`
	}
)

// Descriptions returns descriptions of the fields for the JSON schema.
func (HashtagListEntry) Descriptions() map[string]string {
	return map[string]string{"platform": "Network of the list. Omitted if it is for all networks."}
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ListedHashtag) Descriptions() map[string]string {
	return map[string]string{"platform": "Network of the metrics. Only in lists for all networks."}
}

func newEntry(l List) HashtagListEntry {
	return HashtagListEntry{ID: l.ID, Name: l.Name, Platform: l.Platform, Size: l.Size, ReadyMade: l.isReadyMade(),
		Color: l.Color,
		Icon:  l.Icon}
}

// Operations returns the operations on hashtag lists.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_hashtag_lists", Method: http.MethodGet, Path: "/hashtag-lists", Needs: access.Read,
			Success: http.StatusOK,
			Summary: "List hashtag lists",
			Description: "Returns the team's hashtag lists, newest first, followed by the ready-made ones. " +
				"Check here before search_hashtags: lists are free. Filtering by platform also returns lists for " +
				"all networks.",
			Next: "get_hashtag_list returns the hashtags of a list.",
			Listing: &operation.Listing{Member: "hashtag_lists", Item: "get_hashtag_list",
				Arguments: map[string]string{"list_id": "id"}, Label: []string{"name", "platform"}},
			Example: operation.Example{Arguments: map[string]any{"scope": "own", "limit": 1},
				Data: HashtagLists{[]HashtagListEntry{exampleEntry}}},
		}, s.listLists),
		operation.Define(operation.Spec{
			Tool: "get_hashtag_list", Method: http.MethodGet, Path: "/hashtag-lists/{list_id}", Needs: access.Read,
			Success: http.StatusOK,
			Summary: "Get a hashtag list",
			Description: "Returns a list with all of its hashtags and the known metrics of each: number of posts " +
				"(measured or estimated), posts per day, tier and score. Use it to choose hashtags for a post. " +
				"Unknown metrics are omitted.",
			Next: "Combine a few large hashtags with a larger number of small hashtags. Ready-made lists are read-only: " +
				"create_hashtag_list creates a list of the team's own.",
			Example: operation.Example{Arguments: map[string]any{"list_id": exampleEntry.ID},
				Data: HashtagList{HashtagListEntry: exampleEntry, Hashtags: exampleHashtags}},
		}, s.get),
		operation.Define(operation.Spec{
			Tool: "create_hashtag_list", Method: http.MethodPost, Path: "/hashtag-lists", Needs: access.Write,
			Key: operation.KeyOptional, Success: http.StatusCreated,
			BeforeTx: operation.NewBeforeTx(s.enqueueForCreate),
			Summary:  "Create a hashtag list",
			Description: "Creates a list, empty or with hashtags. Rejected hashtags are listed with the reason; the " +
				"others are added. Metrics of new hashtags are measured in the background. Without an " +
				"Idempotency-Key, each call creates another list. Free of charge. The plan limits the " +
				"number and size of lists.",
			Next: "add_hashtags adds more. plan_limit_reached: the team has reached the list limit of its plan.",
			Example: operation.Example{Arguments: map[string]any{"name": exampleEntry.Name, "platform": "instagram",
				"color": "#C0643A", "icon": exampleEntry.Icon, "hashtags": []string{"#coffee", "Latteart",
					"flat white"}},
				Data: HashtagListChange{exampleEntry, []string{"coffee", "latteart"}, []string{},
					[]HashtagListChangeRefused{{"flat white", reasonCharacters}}}},
		}, s.create),
		operation.Define(operation.Spec{
			Tool: "add_hashtags", Method: http.MethodPost, Path: "/hashtag-lists/{list_id}/hashtags",
			Needs: access.Write, Key: operation.KeyOptional, Success: http.StatusOK,
			BeforeTx: operation.NewBeforeTx(s.enqueueForAdd),
			Summary:  "Add hashtags to a list",
			Description: "Adds hashtags to one of the team's lists. Existing hashtags do not change, so the call " +
				"can be repeated. Rejected hashtags are listed with the reason. Metrics of new hashtags are measured " +
				"in the background. Free of charge.",
			Next: "The response contains the added, existing and rejected hashtags. list_full: the plan's limit is " +
				"reached. wrong_state: ready-made lists are read-only; use create_hashtag_list.",
			Idempotent: true,
			Example: operation.Example{Arguments: map[string]any{"list_id": exampleEntry.ID,
				"hashtags": []string{"coffee", "#espresso"}, "subcategory": "Drinks"},
				Data: HashtagListChange{
					exampleGrownEntry, []string{"espresso"}, []string{"coffee"}, []HashtagListChangeRefused{},
				}},
		}, s.add),
	}
}

var (
	exampleEntry = HashtagListEntry{ID: 1_000_017, Name: "Coffee", Platform: "instagram", Size: 2, Color: "#c0643a",
		Icon: "ri-cup-line"}
	exampleGrownEntry = HashtagListEntry{ID: 1_000_017, Name: "Coffee", Platform: "instagram", Size: 3, Color: "#c0643a",
		Icon: "ri-cup-line"}
	exampleHashtags = []ListedHashtag{
		{HashtagSummary: stats.HashtagSummary{Hashtag: "coffee", Posts: &hashtaganalysis.TagPosts{Count: 182_000_000, Basis: "measured"},
			PostsPerDay: new(21_400.0), Tier: "huge", Score: new(64.0)}},
		{HashtagSummary: stats.HashtagSummary{Hashtag: "latteart"}, Subcategory: "Drinks"},
	}
)
