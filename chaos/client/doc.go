// Package client is the part of the API that chaos runs need: ConfigMaps and the member list of one
// node, over HTTPS with a bearer token. It reports outcomes as a client can know them, and never
// retries.
package client
