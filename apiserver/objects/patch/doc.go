// Package patch applies the three types of patches (specification §4.2, §4.3; semantics F). Package
// operations implements JSON patch, package merge implements merge patch, and package strategic
// implements strategic merge patch. All three work on JSON text, which package tree parses.
//
// All functions are pure. A Patch is immutable and safe for concurrent use, so that a handler can
// apply it again to a newer version of the object until the write succeeds (F31). Errors are
// *status.Error values.
package patch
