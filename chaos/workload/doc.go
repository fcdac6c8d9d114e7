// Package workload puts clients on a cluster and records what each was told and when: writers that own their keys, readers
// of any node, and watchers that follow everything and resume elsewhere when cut. It judges nothing; package check does.
package workload
