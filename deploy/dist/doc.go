// Command dist turns the cross-compiled binaries of a release into what is published: for each
// architecture a Debian package, an OCI image archive and an SBOM, and SHA256SUMS over all of it.
// `make dist` builds the binaries and runs it.
//
// Its output depends on nothing but its inputs, that is the binaries, the files of this repository
// that go into the package, and the flags: every time in an artifact is that of the commit, owners
// and modes are fixed, and entries are in a fixed order. So whoever builds the same commit with the
// same version of Go gets the same bytes, and can check what others publish.
//
// It is a module of its own, so that the packaging libraries stay out of the server's.
package main
