// Package client is a client for pressroom's API, with a method for each operation and typed inputs and outputs.
//
//	c, err := client.New("https://press.example.com", os.Getenv("PRESSROOM_KEY"))
//	post, err := c.CreatePost(ctx, client.CreatePostInput{Caption: "Open from eight.", AccountIDs: []int64{1}})
//
// # Retries
//
// A call is retried if there was no response, or a temporary error: 429, 502, 503, 504, 500, or an Idempotency-Key in
// use. The pauses increase, or follow Retry-After. A retry never repeats a write, because all attempts of a call have
// the same Idempotency-Key. To repeat a failed call later or in another process, set a key with [IdempotencyKey] and
// use the same arguments. The service remembers keys for 24 hours. [Error] and [UnansweredError] contain the key of the
// call.
//
// If a pause would exceed the deadline of the context, the call returns the error immediately.
//
// # Errors
//
// An error response is an [*Error], with its code, the invalid argument, the request ID and the time to wait. A call
// without a response is an [*UnansweredError]: a write may have taken effect. A job that failed completely or partially
// is a [*JobFailedError].
//
// # Times and numbers
//
// IDs are int64. Times in responses are [Moment]s with microseconds; [At] returns a time as an argument.
//
// Optional arguments are pointers if their zero value has a meaning: a FolderID of new(int64) selects media in no
// folder. An empty list that is not nil is sent, and clears what it replaces.
package client
