// Package direct carries the frequent requests between nodes over connections of their own, in
// frames of Protocol Buffers. It implements the interfaces of gRPC that generated code needs, for
// clients (grpc.ClientConnInterface) and servers (grpc.ServiceRegistrar), so a service is the same on
// either transport.
//
// gRPC multiplexes all requests to a node on one HTTP/2 connection, for which each message passes
// through goroutines and flow control on both sides. Here a stream has a connection of its own, and
// its messages are written and read by the goroutines that send and receive them. Calls take turns on
// another connection, which is read by the caller on one side and by the goroutine that serves the
// connection on the other. raftstore/DESIGN.md has the figures. Rare requests and those with large
// responses stay on gRPC, because a slow one would delay the calls behind it.
//
// A peer that does not know the protocol, because its build is older, is served by gRPC (Conn).
//
// Frames are bounded by maxFrameBytes. A client detects a peer that does not respond by pings, a
// server a client by its silence. Server.Serve owns the goroutines of a server, one for each
// connection; clients have none.
package direct
