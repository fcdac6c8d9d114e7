// Package typed tests the unmodified client libraries of client-go on three nodes: typed, dynamic
// and metadata clients, paging, discovery, scales, events, leader election, and watches that
// continue after their node has stopped.
package typed
