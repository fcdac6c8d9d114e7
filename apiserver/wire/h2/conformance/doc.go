// Package conformance runs h2spec, the HTTP/2 conformance suite, against the API server over TLS,
// and for comparison against net/http's own server. It is a module of its own, so that the released
// programs do not depend on the suite.
package conformance
