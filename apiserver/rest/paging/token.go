package paging

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"quorate/apiserver/limit"
)

// GoodFor is the time after the first page for which a list can be continued (specification §7, §8:
// five to fifteen minutes).
const GoodFor = 10 * time.Minute

// keyLabel distinguishes the derived key from other keys derived from the cluster's signing key.
const keyLabel = "quorate continue values v1"

// The layout of a value: format, index, time of the first page, digest of the query, position,
// authenticator.
const (
	format      = 1
	digestBytes = 16
	macBytes    = 16
	headBytes   = 1 + 8 + 8 + digestBytes
	// maxBytes limits the length of a value. A position consists of a namespace and a name.
	maxBytes = 1 << 10
)

// The errors of Decode.
var (
	// ErrUnknown reports a value of another cluster or of another query.
	ErrUnknown = errors.New("continue value is not recognized")
	// ErrExpired reports a value whose list began more than GoodFor ago.
	ErrExpired = errors.New("continue value has expired")
)

// Position is the position of the next page of a list.
type Position struct {
	Index uint64    // index of the list's state
	After string    // key of the last item within the collection
	Began time.Time // time of the first page, in whole seconds
}

// Query holds the parameters that all pages of a list share.
type Query struct {
	ClusterID     string
	Resource      string // including its group
	Namespace     string
	Labels        string // the selectors as the client sent them
	Fields        string
	Uninitialized bool
}

// Tokens encodes and decodes values. It is safe for concurrent use.
type Tokens struct{ key []byte }

// New returns Tokens with a key derived from a secret that all nodes of the cluster share.
func New(secret []byte) (*Tokens, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, keyLabel, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive the key of continue values: %w", err)
	}
	return &Tokens{key: key}, nil
}

// encoding returns the strict encoding, in which each value has exactly one representation.
func encoding() *base64.Encoding { return base64.RawURLEncoding.Strict() }

// Encode returns the value that continues a list at a position.
func (t *Tokens) Encode(p Position, q *Query) string {
	b := make([]byte, 0, headBytes+len(p.After)+macBytes)
	b = append(b, format)
	b = binary.BigEndian.AppendUint64(b, p.Index)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Began.Unix()))
	b = append(b, q.digest()...)
	b = append(b, p.After...)
	return encoding().EncodeToString(append(b, t.mac(b)...))
}

// Decode returns the position of a value for query q. The error is ErrUnknown or ErrExpired,
// marked if a bound was reached (package limit).
func (t *Tokens) Decode(text string, q *Query, now time.Time) (Position, error) {
	if len(text) > maxBytes {
		return Position{}, limit.Reached(limit.ContinueSize, ErrUnknown)
	}
	if strings.ContainsAny(text, "\r\n") { // the decoder would ignore line ends
		return Position{}, ErrUnknown
	}
	b, err := encoding().DecodeString(text)
	if err != nil || len(b) < headBytes+macBytes {
		return Position{}, ErrUnknown
	}
	b, mac := b[:len(b)-macBytes], b[len(b)-macBytes:]
	if !hmac.Equal(mac, t.mac(b)) || b[0] != format || string(b[headBytes-digestBytes:headBytes]) != string(q.digest()) {
		return Position{}, ErrUnknown
	}
	p := Position{
		Index: binary.BigEndian.Uint64(b[1:]),
		Began: time.Unix(int64(binary.BigEndian.Uint64(b[9:])), 0),
		After: string(b[headBytes:]),
	}
	if now.Sub(p.Began) >= GoodFor {
		return Position{}, limit.Reached(limit.ContinueAge, ErrExpired)
	}
	return p, nil
}

func (t *Tokens) mac(b []byte) []byte {
	h := hmac.New(sha256.New, t.key)
	h.Write(b)
	return h.Sum(nil)[:macBytes]
}

// digest returns a hash of the query. Each part is preceded by its length, so that different
// queries have different input.
func (q *Query) digest() []byte {
	var b []byte
	for _, part := range []string{q.ClusterID, q.Resource, q.Namespace, q.Labels, q.Fields} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	if q.Uninitialized {
		b = append(b, 1)
	}
	sum := sha256.Sum256(b)
	return sum[:digestBytes]
}
