// Package proto holds the messages that Quorate nodes write to the log (logpb) and send to each
// other (peerpb). The .proto files are the source; the Go beside them is generated.
package proto

//go:generate go run ./internal/generate
