// Package client speaks with pressroom's API: a method for each operation, with typed input and answer.
//
//	c, err := client.New("https://press.example.com", os.Getenv("PRESSROOM_KEY"))
//	post, err := c.CreatePost(ctx, client.CreatePostInput{Caption: "Open from eight.", AccountIDs: []int64{1}})
//
// # Repeating
//
// A call that got no answer, or one that passes by itself (429, 502, 503, 504, a 500 and an Idempotency-Key that is
// in use), is repeated with growing pauses, or after the Retry-After that the answer names. Nothing is done twice by
// that: every write carries an Idempotency-Key, made for the call and kept over its repeats. The key ends with the
// call: to repeat a call that failed, in another process or tomorrow, give it a key of your own with [IdempotencyKey],
// and the same arguments. The service remembers keys for 24 hours. [Error] and [UnansweredError] tell which key a call
// carried.
//
// A call that costs more time than its context allows is given up at once, with the refusal that would have made it
// wait.
//
// # Errors
//
// A refusal is an [*Error], with the stable code, the argument that is to blame, the id of the request and how long
// to wait. A call without an answer is an [*UnansweredError]: a write may have been done then. A job that did not
// succeed is a [*JobFailedError].
//
// # Times and numbers
//
// Ids are int64. Times in answers are [Moment]s, exact to the microsecond; [At] writes a time as an argument.
//
// Arguments that may be left out are plain where their zero value can mean nothing else, and pointers where it can: a
// FolderID of new(int64) asks for the media in no folder. An empty list that is not nil is sent, and empties what it
// replaces.
package client
