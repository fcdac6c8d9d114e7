// Package typed tests the client libraries of client-go, as they come, on three nodes: typed,
// dynamic and metadata clients, paging, discovery, scales, events, leader election, and watches
// that outlive their node.
package typed
