// Package protofile generates .proto files (proto2) of the protobuf form of objects (B20), from
// which clients in other languages can be generated. They contain all kinds that have such a form,
// with their lists, and Status, WatchEvent, DeleteOptions and the envelope.
//
// Fields have the numbers that package schema uses. A message that has more fields in some kinds
// than in others, such as a pod template, is one message with all fields. The package has no state.
package protofile
