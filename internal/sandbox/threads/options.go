package threads

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/store"
)

var (
	replyControls = []string{
		"everyone", "accounts_you_follow", "mentioned_only", "parent_post_author_only", "followers_only",
	}
	pollMembers = []string{"option_a", "option_b", "option_c", "option_d"}
)

// addOptions checks the request parameters that are post options, and stores them in the container.
func (n *Network) addOptions(r *http.Request, c *graph.Container) error {
	c.Options = map[string]string{}
	for _, name := range []string{
		"reply_control", "topic_tag", "link_attachment", "poll_attachment", "quote_post_id", "is_spoiler_media",
	} {
		if value := r.Form.Get(name); value != "" {
			c.Options[name] = value
		}
	}
	if len(c.Options) > 0 && c.IsItem {
		return graph.InvalidParameter("A carousel item cannot have these parameters")
	}
	for name, value := range c.Options {
		if !n.isValidOption(name, value, *c) {
			return graph.InvalidParameter("Param " + name + " is invalid")
		}
	}
	return n.checkQuote(r, c.Options["quote_post_id"])
}

func (*Network) isValidOption(name, value string, c graph.Container) bool {
	switch name {
	case "reply_control":
		return slices.Contains(replyControls, value)
	case "topic_tag":
		return utf8.RuneCountInString(value) <= 50 && !strings.ContainsAny(value, ".&")
	case "link_attachment":
		u, err := url.Parse(value)
		return err == nil && u.Host != "" && c.MediaType == "TEXT"
	case "poll_attachment":
		return c.MediaType == "TEXT" && c.Options["link_attachment"] == "" && isPoll(value)
	case "is_spoiler_media":
		return value == "true" || value == "false"
	}
	return true
}

// isPoll reports whether text is a JSON object that describes a poll with two to four choices.
func isPoll(text string) bool {
	var choices map[string]string
	if json.Unmarshal([]byte(text), &choices) != nil || choices["option_a"] == "" || choices["option_b"] == "" ||
		choices["option_c"] == "" && choices["option_d"] != "" {
		return false
	}
	for name, choice := range choices {
		if !slices.Contains(pollMembers, name) || utf8.RuneCountInString(choice) > 25 {
			return false
		}
	}
	return true
}

// checkQuote returns an error if the quoted post does not exist.
func (n *Network) checkQuote(r *http.Request, id string) error {
	if id == "" {
		return nil
	}
	return n.AsCaller(r, func(t store.Tx, _ store.Account, _ store.Token) error {
		_, found, err := t.Post(r.Context(), Name, id)
		if err == nil && !found {
			err = graph.ErrNoObject
		}
		return err
	})
}

// addOptionFields adds a post's options to its view.
func addOptionFields(view map[string]any, options map[string]string) {
	if value := options["topic_tag"]; value != "" {
		view["topic_tag"] = value
	}
	if value := options["link_attachment"]; value != "" {
		view["link_attachment_url"] = value
	}
	view["is_quote_post"] = options["quote_post_id"] != ""
	if value := options["quote_post_id"]; value != "" {
		view["quoted_post"] = map[string]string{"id": value}
	}
	if value := options["poll_attachment"]; value != "" {
		view["poll_attachment"] = json.RawMessage(value)
	}
	if value := options["reply_control"]; value != "" {
		view["reply_audience"] = strings.ToUpper(value)
	}
	if options["is_spoiler_media"] == "true" {
		view["is_spoiler_media"] = true
	}
}
