package access

// PauseAction is the kind of action that the operator has paused.
type PauseAction string

// The actions.
const (
	PauseAPI        PauseAction = "api" // the API of the whole service, which then returns rest_disabled
	PauseEverything PauseAction = "everything"
	PauseSpending   PauseAction = "spend"
	PausePublishing PauseAction = "publish"
)
