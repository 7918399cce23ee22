package mcp

import (
	_ "embed"
	"encoding/base64"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed icon.svg
var icon []byte

// icons returns the app's icon, which clients show next to the server's name. The response contains the image itself,
// because clients may be unable to fetch it from a private network.
func icons() []sdk.Icon {
	return []sdk.Icon{{
		Source: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon), MIMEType: "image/svg+xml", Sizes: []string{"any"},
	}}
}
