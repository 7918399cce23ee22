package openapi

import (
	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/core/access"
)

// The parts of an OpenAPI document that this package uses, in output order.
type (
	document struct {
		OpenAPI    string                                `json:"openapi"`
		Info       infoObject                            `json:"info"`
		Dialect    string                                `json:"jsonSchemaDialect"`
		Docs       externalDocs                          `json:"externalDocs"`
		Servers    []server                              `json:"servers"`
		Security   []map[string][]string                 `json:"security"`
		Tags       []tagObject                           `json:"tags"`
		Paths      map[string]map[string]operationObject `json:"paths"`
		Components components                            `json:"components"`
	}
	infoObject struct {
		Title       string        `json:"title"`
		Summary     string        `json:"summary"`
		Description string        `json:"description"`
		Version     string        `json:"version"`
		Contact     contactObject `json:"contact"`
		License     licenseObject `json:"license"`
	}
	contactObject struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	externalDocs struct {
		Description string `json:"description"`
		URL         string `json:"url"`
	}
	licenseObject struct {
		Name       string `json:"name"`
		Identifier string `json:"identifier"`
	}
	server struct {
		URL string `json:"url"`
	}
	tagObject struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	operationObject struct {
		ID          string              `json:"operationId"`
		Summary     string              `json:"summary"`
		Description string              `json:"description"`
		Tags        []string            `json:"tags"`
		extensions                      //nolint:embeddedstructfieldcheck // members are output in this order
		Parameters  []parameter         `json:"parameters,omitempty"`
		Body        *bodyObject         `json:"requestBody,omitempty"`
		Responses   map[string]response `json:"responses"`
	}
	extensions struct {
		Tool       string                 `json:"x-tool"`
		Capability access.Capability      `json:"x-capability"`
		Additional *conditionalCapability `json:"x-additional-capability,omitempty"`
		Price      *price                 `json:"x-price,omitempty"`
		Recurring  *recurringPrice        `json:"x-recurring-price,omitempty"`
		Samples    []Sample               `json:"x-codeSamples,omitempty"`
	}
	// price is a fixed amount or a range.
	price struct {
		Credits *int64 `json:"credits,omitempty"`
		Min     *int64 `json:"min,omitempty"`
		Max     *int64 `json:"max,omitempty"`
	}
	recurringPrice struct {
		Credits int64  `json:"credits"`
		Repeats string `json:"repeats"`
		Stops   string `json:"stops"`
	}
	conditionalCapability struct {
		Capability access.Capability `json:"capability"`
		When       string            `json:"when"`
	}
	parameter struct {
		Name        string             `json:"name"`
		In          string             `json:"in"`
		Description string             `json:"description,omitempty"`
		Required    bool               `json:"required,omitempty"`
		Style       string             `json:"style,omitempty"`
		Explode     *bool              `json:"explode,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
		Example     any                `json:"example,omitempty"`
	}
	bodyObject struct {
		Required bool                 `json:"required"`
		Content  map[string]mediaType `json:"content"`
	}
	mediaType struct {
		Schema   *jsonschema.Schema `json:"schema"`
		Example  any                `json:"example,omitempty"`
		Examples map[string]example `json:"examples,omitempty"`
	}
	example struct {
		Value any `json:"value"`
	}
	response struct {
		Ref         string               `json:"$ref,omitempty"`
		Description string               `json:"description,omitempty"`
		Content     map[string]mediaType `json:"content,omitempty"`
	}
	components struct {
		SecuritySchemes map[string]securityScheme     `json:"securitySchemes"`
		Responses       map[string]response           `json:"responses"`
		Schemas         map[string]*jsonschema.Schema `json:"schemas"`
	}
	securityScheme struct {
		Type        string `json:"type"`
		Scheme      string `json:"scheme"`
		Description string `json:"description"`
	}
)
