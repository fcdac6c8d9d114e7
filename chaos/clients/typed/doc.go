// Package typed tests unmodified client-go on three nodes: typed, dynamic, metadata, scale and
// discovery clients, paging, server-side apply, events, leader election, and watches that continue
// after their node has stopped.
package typed
