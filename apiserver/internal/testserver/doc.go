// Package testserver runs a real server on a real store of one node, over TLS and HTTP/2, for
// tests.
package testserver
