package instagram

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"pressroom.example/pressroom/internal/network"
)

// subcodeText is the subcode for a caption with too many characters, hashtags or mentions.
//
// Source: https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes
const subcodeText = "/2207010"

var hashtagsPattern = regexp.MustCompile(`\b([0-9]{1,3}) hashtags`)

// hashtagLimit is the number of hashtags that Instagram accepts, learned from its responses since the process started.
// Instagram documents 30, but reportedly accepts only 5 from some accounts. The value is 0 until a response shows that
// the limit is lower than documented.
type hashtagLimit struct{ value atomic.Int64 }

// observe learns from Instagram's response to the creation of a container whose text the rules allow. It ignores a
// rejection if the text has few hashtags, because there must be another reason. If Instagram accepts more hashtags than
// the limit, observe removes the limit.
func (l *hashtagLimit) observe(rules network.Rules, text string, err error) {
	count := len(network.Hashtags(text))
	netErr, ok := errors.AsType[*network.Error](err)
	switch {
	case err == nil:
		if limit := l.value.Load(); limit > 0 && int64(count) > limit {
			l.value.CompareAndSwap(limit, 0)
		}
	case ok && strings.HasSuffix(netErr.Code, subcodeText) && count > rules.Hashtags.SoftLimit:
		limit := count - 1
		if match := hashtagsPattern.FindStringSubmatch(netErr.Message); match != nil {
			number, _ := strconv.Atoi(match[1])
			limit = min(limit, number)
		}
		l.value.Store(int64(max(limit, 1)))
	}
}

// Rules returns the limits that Check applies. If a limit on hashtags was learned, it replaces Hashtags.SoftLimit.
func (n *Network) Rules() network.Rules {
	rules := n.Containers.Rules()
	if limit := int(n.hashtags.value.Load()); limit > 0 {
		rules.Hashtags.SoftLimit = limit
	}
	return rules
}

// Check returns what the network would reject, or accept only with changes. The learned limit does not block a post,
// because Instagram may accept more hashtags from another account.
func (n *Network) Check(content network.Content) []network.Problem {
	rules, limit := n.Containers.Rules(), int(n.hashtags.value.Load())
	count := len(network.Hashtags(content.Text))
	if limit == 0 || count <= limit || count > rules.Hashtags.Limit || content.Options.IsStory(platform) {
		return n.Containers.Check(content)
	}
	rules.Hashtags.SoftLimit = 0
	return append(n.CheckWith(rules, content), network.Problem{Code: "hashtags_too_many", Message: fmt.Sprintf(
		"The text has %d hashtags; Instagram rejected a post with more than %d. Remove %d.", count, limit, count-limit)})
}
