package auth

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// issuerName is the `iss` claim of all tokens of this server.
const issuerName = "quorate"

// Audience is the `aud` claim of all tokens: the issuer is also the only recipient (J9).
const Audience = issuerName

// backdate is how long before its creation a token becomes valid. It must exceed the differences
// between the nodes' clocks. Otherwise the tokens of a node whose clock is hours ahead, such as the
// operator's first one, would be invalid for hours once the clock is right.
const backdate = 24 * time.Hour

// Identity is the part of a token that identifies its holder.
type Identity struct {
	Name   string
	UID    string
	Groups []string
}

// claims are the members of a signed token. Where registered claim names exist, it uses these: sub
// is the user's name.
type claims struct {
	jwt.RegisteredClaims
	UID    string   `json:"uid,omitempty"`
	Groups []string `json:"groups,omitempty"`
}

// Issuer issues tokens that all nodes with the same key accept.
type Issuer struct{ key []byte }

// NewIssuer returns an issuer that signs with key.
func NewIssuer(key []byte) *Issuer { return &Issuer{key: key} }

// Issue returns a token for an identity that is valid for ttl, which must be positive.
func (i *Issuer) Issue(id Identity, ttl time.Duration) (string, error) {
	if id.Name == "" {
		return "", errors.New("issue token: the user name is empty")
	}
	if ttl <= 0 {
		return "", fmt.Errorf("issue token: lifetime %s is not positive", ttl)
	}
	now := time.Now()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    issuerName,
			Audience:  jwt.ClaimStrings{Audience},
			Subject:   id.Name,
			ID:        uuid.NewString(),
			IssuedAt:  jwt.NewNumericDate(now),
			NotBefore: jwt.NewNumericDate(now.Add(-backdate)),
			ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
		},
		UID:    id.UID,
		Groups: id.Groups,
	})
	signed, err := token.SignedString(i.key)
	if err != nil {
		return "", fmt.Errorf("sign token for %q: %w", id.Name, err)
	}
	return signed, nil
}
