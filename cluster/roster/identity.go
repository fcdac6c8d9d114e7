package roster

import (
	"crypto/rand"
	"encoding/hex"
)

// Identity tells this node, and this start of it, from all others.
type Identity struct {
	Name string
	// NodeID is a UUID kept in the data directory. Of two claimants of one name the lower id wins
	// where nothing else decides; a time-ordered UUID (version 7) makes that the older node.
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
