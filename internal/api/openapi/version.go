package openapi

// Version is the semantic version of the next release of the program, the document (info.version) and the clients. The
// script scripts/release tags the release. After a release, the first change to the document must increase Version.
const Version = "0.1.0"
