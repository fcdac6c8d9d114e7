// Package client implements the part of the API that chaos runs need: ConfigMaps and the member
// list of one node, over HTTPS with a bearer token. It reports each outcome as far as a client can
// know it, and never retries.
package client
