// Package h2 is an HTTP/2 client that costs little processor time, for a generator of load that
// shares the cores with the servers that it measures. The frames and the compression of headers are
// those of golang.org/x/net, so a server gets the requests that Go's own client would send. It leaves
// out what costs that client most: a goroutine, a pipe and a copy of the headers for each request. It
// lets a server send far ahead, where Go's client sends updates of 4 MiB windows as it reads.
//
// A Pool sends requests to one server. Each connection has one goroutine, which reads; the callers
// write themselves. It repeats no request: what fails, the caller counts.
package h2
