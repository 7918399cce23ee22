package access

// PauseAction is what a pause by the operator stops.
type PauseAction string

// The actions.
const (
	PauseAPI        PauseAction = "api" // the API of the whole service, which then answers rest_disabled
	PauseEverything PauseAction = "everything"
	PauseSpending   PauseAction = "spend"
	PausePublishing PauseAction = "publish"
)
