// Package chaos runs clients against a cluster, injects faults, and checks the responses that the
// clients received: every acknowledged write is present with its version, versions never decrease,
// quorum reads are never stale, and watchers receive every change once and in order. It controls
// real nodes from outside, through the public API and signals only.
package chaos
