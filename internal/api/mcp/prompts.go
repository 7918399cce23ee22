package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/auth/apikey"
)

// prompt is a common task that people can give to an assistant.
type prompt struct {
	name, title, description string
	arguments                []argument
	text                     *template.Template
}

// argument is an argument of a prompt. The fields operation and argument name an argument of an operation. If they are
// not empty, the values of that argument are suggested.
type argument struct {
	name, title, description string
	required                 bool
	operation, argument      string
	format                   format
}

// format is the format of an argument's value. The zero value accepts any text.
type format struct {
	rule    string // completes the sentence "The argument NAME …"
	isValid func(value string) bool
}

// integerFormat returns the format of integers from minValue to maxValue.
func integerFormat(minValue, maxValue int) format {
	return format{fmt.Sprintf("must be an integer from %d to %d", minValue, maxValue), func(value string) bool {
		n, err := strconv.Atoi(value)
		return err == nil && n >= minValue && n <= maxValue
	}}
}

var dateFormat = format{"must be a date such as 2026-03-30", func(value string) bool {
	_, err := time.Parse(time.DateOnly, value)
	return err == nil
}}

// choiceFormat returns the format of values that must be one of the choices.
func choiceFormat(choices ...string) format {
	return format{"must be one of: " + strings.Join(choices, ", "), func(value string) bool {
		return slices.Contains(choices, value)
	}}
}

const maxArgumentLength = 2000 // maximum number of characters in a prompt's argument

func findPrompt(name string) *prompt {
	for i := range prompts {
		if prompts[i].name == name {
			return &prompts[i]
		}
	}
	return nil
}

func addPrompts(server *sdk.Server) {
	for i := range prompts {
		p := &prompts[i]
		sdkPrompt := &sdk.Prompt{Name: p.name, Title: p.title, Description: p.description}
		for _, a := range p.arguments {
			sdkPrompt.Arguments = append(sdkPrompt.Arguments,
				&sdk.PromptArgument{Name: a.name, Title: a.title, Description: a.description, Required: a.required})
		}
		server.AddPrompt(sdkPrompt, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return p.render(exchangeFrom(ctx), req.Params.Arguments)
		})
	}
}

// render returns a user message with the prompt's text and the given arguments.
func (p *prompt) render(x *exchange, arguments map[string]string) (*sdk.GetPromptResult, error) {
	values := map[string]string{}
	for _, a := range p.arguments {
		value := strings.TrimSpace(arguments[a.name])
		if violation := a.check(value); violation != "" {
			return nil, x.newError(jsonrpc.CodeInvalidParams, "The argument "+a.name+" "+violation+".")
		}
		values[a.name] = value
	}
	for name := range arguments {
		if _, ok := values[name]; !ok {
			return nil, x.newError(jsonrpc.CodeInvalidParams,
				"Unknown argument. prompts/list has the arguments of each prompt.")
		}
	}
	var text strings.Builder
	if err := p.text.Execute(&text, values); err != nil {
		return nil, fmt.Errorf("rendering the prompt %s: %w", p.name, err)
	}
	return &sdk.GetPromptResult{
		Description: p.description,
		Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: strings.TrimSpace(text.String())}},
		},
	}, nil
}

// check returns what is wrong with a value, as the end of the sentence "The argument NAME …", or "" if the value is
// valid.
func (a argument) check(value string) string {
	switch {
	case value == "" && a.required:
		return "is missing"
	case utf8.RuneCountInString(value) > maxArgumentLength:
		return fmt.Sprintf("is longer than %d characters", maxArgumentLength)
	case apikey.ContainsSecret(value):
		return "contains an API key or an upload secret; remove it"
	case value != "" && a.format.isValid != nil && !a.format.isValid(value):
		return a.format.rule
	}
	return ""
}
