package openapi

// Version is the version of the next release (SemVer): of the program, the document (info.version) and the clients.
// scripts/release tags it. After a release, the first change to the document raises it.
const Version = "0.1.0"
