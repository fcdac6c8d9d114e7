// Package workload puts clients on a cluster and records what each was told and when: clients that fight for keys, that list, page and
// read what nodes have cached, and watchers that follow everything and resume elsewhere when cut. It judges nothing; package check does.
//
// A Load owns its goroutines, one a client, until Close or Record.
package workload
