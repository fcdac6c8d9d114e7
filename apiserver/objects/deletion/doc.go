// Package deletion decides what deleting an object means: remove it, mark it as going and wait
// (finalizers, grace periods, namespaces), or nothing more (specification §3, semantics G9–G20,
// G37–G42).
//
// Decisions are pure functions of the stored object, the options and the time; who decides then
// writes.
package deletion
