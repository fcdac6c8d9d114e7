// Package chaos puts a cluster under load, injects faults and checks the responses that its clients
// received: every acknowledged write is present with its version, versions never go back, quorum
// reads are never stale, and watchers receive every change once, in order. It controls real nodes
// from outside, through the public API and signals only.
package chaos
