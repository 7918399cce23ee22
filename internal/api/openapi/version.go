package openapi

// Version is the version of the document (info.version). The last number rises when texts or examples change, the
// middle one when something is added.
const Version = "0.19.0"
