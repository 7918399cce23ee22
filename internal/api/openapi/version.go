package openapi

// Version is the version of the description (info.version). It rises with every change of the document: by its
// last number where texts or examples change, by the middle one where something is added. v1 grows and breaks
// nothing (spec, Versioning).
const Version = "0.12.0"
