// Package browser tests the web console in headless Chromium, against three nodes that are
// processes of their own.
//
// It is a module of its own, so that the driver of the browser never ships. Debian's package
// chromium has the browser; without one, the tests are skipped and say so.
//
// With QUORATE_SCREENSHOTS=DIR the tests write pictures of the pages, in both themes, into DIR:
//
//	QUORATE_SCREENSHOTS=$PWD/../../../docs/images go test ./...
package browser
