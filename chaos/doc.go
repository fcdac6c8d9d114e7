// Package chaos puts a cluster under load, kills its nodes and judges what its clients were told: every acknowledged write
// is there with its version, versions never go back, quorum reads are never stale, and watchers that ran all the while saw
// every change once, in order. It drives real nodes from outside, through the public API and signals only.
package chaos
