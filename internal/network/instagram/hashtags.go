package instagram

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"pressroom/internal/network"
)

// hashtagLimit is the limit on hashtags that the network named, or 0. The network documents 30, but third parties report
// 5 since 2026. The limit is kept in memory, so each process learns it from the first refusal.
type hashtagLimit struct{ most atomic.Int64 }

// Rules returns the limits that Check applies.
func (n *Network) Rules() network.Rules {
	rules := n.Containers.Rules()
	if most := int(n.hashtags.most.Load()); most > 0 && (rules.Hashtags.Most == 0 || most < rules.Hashtags.Most) {
		rules.Hashtags = network.Count{Most: most}
	}
	return rules
}

// Check returns what the network would refuse, or accept only with a loss.
func (n *Network) Check(content network.Content) []network.Problem { return n.Rules().Check(content) }

// Prepare is that of Containers. It refuses a post with more hashtags than the network is known to accept.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	tags := hashtagsOf(d)
	if most := int(n.hashtags.most.Load()); most > 0 && tags > most {
		return nil, 0, &network.Error{Class: network.Rejected, Code: "hashtags_too_many", Err: network.ErrPreflight}
	}
	next, wait, err := n.Containers.Prepare(ctx, g, d, files)
	n.hashtags.learn(tags, err)
	return next, wait, err
}

// Commit is that of Containers.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Receipt, error) {
	receipt, err := n.Containers.Commit(ctx, g, d, files)
	n.hashtags.learn(hashtagsOf(d), err)
	return receipt, err
}

var wholeNumber = regexp.MustCompile(`\b[0-9]{1,2}\b`)

// learn takes the limit from a refusal that speaks of hashtags: the number below that of the post that it names, else one
// less than the post has.
func (h *hashtagLimit) learn(tags int, err error) {
	refusal, ok := errors.AsType[*network.Error](err)
	if !ok || tags == 0 || refusal.Status == 0 || refusal.Class != network.Rejected ||
		!strings.Contains(strings.ToLower(refusal.Message), "hashtag") {
		return
	}
	most := tags - 1
	for _, number := range wholeNumber.FindAllString(refusal.Message, -1) {
		if named, _ := strconv.Atoi(number); named > 0 && named < tags {
			most = named
			break
		}
	}
	if most > 0 {
		h.most.Store(int64(most))
	}
}

func hashtagsOf(d network.Draft) int { return len(network.Hashtags(textOf(d))) }

// textOf returns the text of a draft.
func textOf(d network.Draft) string {
	var draft struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(d, &draft) // Containers refuses an invalid draft
	return draft.Text
}
