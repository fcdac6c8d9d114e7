// Package conformance runs h2spec, the HTTP/2 conformance suite, against the API server over TLS,
// and against net/http's own server as a yardstick. It is a module of its own, so that nothing in
// the released programs depends on the suite.
package conformance
