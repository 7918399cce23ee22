package access

// PauseAction is a kind of action that the operator can pause.
type PauseAction string

// The actions.
const (
	PauseAPI        PauseAction = "api" // the API of the whole service; while it is paused, calls return rest_disabled
	PauseEverything PauseAction = "everything"
	PauseSpending   PauseAction = "spend"
	PausePublishing PauseAction = "publish"
)
