// Package protofile generates the .proto text (proto2) of the messages in the protobuf form of
// objects (B20), from which clients in other languages can be generated: every kind with its list,
// Status, WatchEvent, DeleteOptions, and the envelope.
//
// Messages have the numbers that package schema writes. A message that has more fields under some
// kinds than under others (pod templates) is one message here with all fields. The package has no
// state; package discovery serves the text.
package protofile
