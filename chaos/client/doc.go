// Package client implements the part of the API that chaos runs need, for one node, over HTTPS with
// a bearer token: ConfigMaps, watches, members and checksums of the cluster, and any other request
// by its path. It reports each outcome as far as a client can know it, and never retries.
package client
