// Package appendrpc carries Raft's pipelined appends from the leader to a follower, on a connection
// of its own. The library's transport encodes them as maps with the names of all fields, which takes
// twice the time, and 64 bytes more for each entry (raftstore/DESIGN.md).
//
// A request and its response are frames: their length in four bytes, then their content (codec.go),
// which is compressed if it is large and that saves bytes (compress.go).
// Responses come in the order of the requests. As in the library's transport, at most two requests
// are on the way, one that is being handled by the follower and one that is waiting there, unless
// the follower is at a distance (window.go).
//
// Server owns a goroutine for each connection, and Pipeline the one that receives responses.
package appendrpc
