// Package deletion decides the effect of deleting an object: remove it, mark it as terminating
// because of finalizers, a grace period or a namespace's content, or change nothing (specification
// §3, semantics G9–G20, G37–G42).
//
// Decisions are pure functions of the stored object, the options and the time. Commit writes them.
package deletion
