package mcp

import (
	_ "embed"
	"encoding/base64"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed icon.svg
var icon []byte

// icons returns the app's icon, which clients show beside the server's name. It is part of the response,
// because clients may be unable to fetch it from a private network.
func icons() []sdk.Icon {
	return []sdk.Icon{{
		Source: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon), MIMEType: "image/svg+xml", Sizes: []string{"any"},
	}}
}
