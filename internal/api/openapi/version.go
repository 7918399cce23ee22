package openapi

// Version is the version (SemVer) of the next release of the program, the document (info.version) and the clients. The
// script scripts/release tags the release. After a release, the first change to the document must increase the version.
const Version = "0.1.0"
