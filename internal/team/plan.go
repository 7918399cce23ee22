package team

// Unlimited is how a limit that is none is written (spec: -1 means unlimited, 0 means none).
const Unlimited = -1

// Plan is what a team may have.
type Plan struct {
	ID                     string
	Name                   string
	APIKeys                bool
	SocialAccounts         int64
	PostsPerMonth          int64
	Seats                  int64
	StorageBytes           int64
	AnalyticsRetentionDays int64
	ProfilesComparable     int64
	FreeCallsPerDay        int64
	HashtagLists           int64
	HashtagsPerList        int64
	TrackedReports         int64
	DailyCredits           int64 // for assistants and keys
}

const gib = int64(1) << 30

// plans is the set that pressroom ships.
var plans = []Plan{
	{"free", "Free", false, 3, 20, 1, gib, 30, 1, 0, 3, 500, 0, 0},
	{"creator", "Creator", true, 10, 200, 1, 10 * gib, 90, 3, 1_000, 20, 1_000, 5, 50},
	{"team", "Team", true, 30, 2_000, 10, 100 * gib, 365, 10, 10_000, 100, 2_000, 25, 250},
	{"agency", "Agency", true, Unlimited, Unlimited, 50, 1_000 * gib, 730, 25, 100_000, 500, 5_000, 100, 1_000},
}

// PlanOf finds a plan; the zero Plan where there is none of this id.
func PlanOf(id string) Plan {
	for _, p := range plans {
		if p.ID == id {
			return p
		}
	}
	return Plan{}
}

func planIDs() []string {
	out := make([]string, len(plans))
	for i, p := range plans {
		out[i] = p.ID
	}
	return out
}
