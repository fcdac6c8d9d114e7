package roster

import (
	"crypto/rand"
	"encoding/hex"
)

// Identity distinguishes this node, and this start of it, from all others.
type Identity struct {
	Name string
	// NodeID is a UUID kept in the data directory. If nothing else decides which of two nodes keeps
	// a name, the node with the lower id does. That is the older node, because the UUID is
	// time-ordered (version 7).
	NodeID string
	// Start counts the starts on this data directory; Nonce differs even between copies of it.
	Start uint64
	Nonce string
}

func newNonce() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
