package bluesky

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

// reply links a record to the thread that it belongs to (lexicon app.bsky.feed.post#replyRef).
type reply struct {
	Root   strongRef `json:"root"`
	Parent strongRef `json:"parent"`
}

// strongRef is a reference to one version of a record (lexicon com.atproto.repo.strongRef).
type strongRef struct {
	URI string `json:"uri"`
	CID string `json:"cid"`
}

// codeNoParent is the error code for a reply to a post that no longer exists. It is not a code of Bluesky.
const codeNoParent = "ParentNotFound"

// findReply returns references to the current versions of a thread's first post and of the post that is replied to.
func (n *Network) findReply(ctx context.Context, g network.Grant, target network.Reply) (*reply, error) {
	root, err := n.findPost(ctx, g, target.Root)
	if err != nil {
		return nil, err
	}
	if target.Parent == target.Root {
		return &reply{root, root}, nil
	}
	parent, err := n.findPost(ctx, g, target.Parent)
	return &reply{root, parent}, err
}

// findPost returns a reference to one of the account's posts.
func (n *Network) findPost(ctx context.Context, g network.Grant, uri string) (strongRef, error) {
	rkey, found := strings.CutPrefix(uri, "at://"+g.Account+"/"+postCollection+"/")
	if !found || !validTID.MatchString(rkey) {
		return strongRef{}, network.PermanentError(errors.New("the thread does not belong to this account"))
	}
	rec, err := n.getRecord(ctx, g, rkey)
	if isMissing(err) {
		return strongRef{}, &network.Error{
			Class: network.Rejected, Status: http.StatusBadRequest, Code: codeNoParent,
			Message: "The post that this part replies to no longer exists.", Err: err,
		}
	}
	return strongRef{uri, rec.CID}, err
}

// isMissing reports whether the server does not have a record.
func isMissing(err error) bool {
	netErr, ok := errors.AsType[*network.Error](err)
	return ok && netErr.Class == network.Rejected && netErr.Code == "RecordNotFound"
}
