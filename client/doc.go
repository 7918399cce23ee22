// Package client is a client for pressroom's API, with a method for each operation and typed inputs and outputs.
//
//	c, err := client.New("https://press.example.com", os.Getenv("PRESSROOM_KEY"))
//	post, err := c.CreatePost(ctx, client.CreatePostInput{Caption: "Open from eight.", AccountIDs: []int64{1}})
//
// # Retries
//
// A call is retried if there was no response or a temporary error. Temporary errors are the statuses 429, 500, 502, 503
// and 504, and the error that an earlier request with the same Idempotency-Key is still in progress. The error
// [CodeProviderUnavailable] (502) is not retried: a data provider is unreachable or not configured; nothing was done.
//
// The pauses increase, or follow Retry-After. A retry never repeats a write, because all attempts of a call have the
// same Idempotency-Key. To repeat a failed call later or in another process, set an idempotency key with
// [IdempotencyKey] and use the same arguments. The service remembers idempotency keys for 24 hours. [Error] and
// [UnansweredError] contain the idempotency key of the call.
//
// If a pause would exceed the deadline of the context, the call returns the error immediately.
//
// # Errors
//
// An error response is an [*Error], with its code, the invalid argument, the request ID and the time to wait. If there
// is no response, the error is an [*UnansweredError], and a write may have taken effect. If a job failed completely or
// partially, the error is a [*JobFailedError].
//
// # Times and numbers
//
// IDs are int64. Times in responses are [Moment]s with microseconds; [At] formats a time.Time for use as
// an argument.
//
// Optional arguments are pointers if their zero value has a meaning: a FolderID of new(int64) selects media in no
// folder. An empty list that is not nil is sent, and clears what it replaces.
package client
