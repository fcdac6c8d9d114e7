// Package protofile writes the .proto text (proto2) of the messages that the protobuf form of
// objects is made of (B20), so that clients in other languages can be generated: every kind with
// its list, Status, WatchEvent, DeleteOptions, and the envelope.
//
// Messages have the numbers that package schema writes. A message that has more fields under some
// kinds than under others (pod templates) is one message here, with all of them. The package has no
// state; package discovery serves what it makes.
package protofile
