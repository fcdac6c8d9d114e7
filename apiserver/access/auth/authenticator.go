package auth

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"quorate/apiserver/limit"
)

// ErrUnauthenticated is returned for missing and for invalid credentials. It does not say why
// credentials are invalid (semantics J2).
var ErrUnauthenticated = errors.New("unauthenticated")

// maxCachedTokens limits the cache of verified tokens. A full cache is cleared.
const maxCachedTokens = 4096

// maxTokenBytes limits the tokens that are parsed, because their senders are not authenticated yet.
const maxTokenBytes = 8 << 10

// Authenticator maps bearer tokens to users. It accepts the static tokens of a file and signed
// tokens.
type Authenticator struct {
	key    []byte
	static *tokenFile
	parser *jwt.Parser

	// verified is copied on write, so that requests read it without a lock.
	verified atomic.Pointer[map[string]verifiedToken]
	mu       sync.Mutex // serialises the writers of verified
	flushes  atomic.Int64
}

type verifiedToken struct {
	user    *User
	expires time.Time
}

// NewAuthenticator returns an authenticator for tokens signed with key and for the static tokens in
// the file at path. If path is empty, there are no static tokens.
func NewAuthenticator(key []byte, path string) (*Authenticator, error) {
	static, err := openTokenFile(path)
	if err != nil {
		return nil, err
	}
	a := &Authenticator{
		key:    key,
		static: static,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
			jwt.WithIssuer(issuerName),
			jwt.WithAudience(Audience),
			jwt.WithExpirationRequired(),
		),
	}
	a.verified.Store(&map[string]verifiedToken{})
	return a, nil
}

// Flushes returns how often the cache of verified tokens was full and was cleared.
func (a *Authenticator) Flushes() int64 { return a.flushes.Load() }

// Run watches the token file until ctx ends. It passes the result of each attempt to read it again
// to reloaded.
func (a *Authenticator) Run(ctx context.Context, log *slog.Logger, reloaded func(error)) error {
	return a.static.run(ctx, log, reloaded)
}

// Authenticate returns the credential of an Authorization header at time now.
func (a *Authenticator) Authenticate(h http.Header, now time.Time) (Credential, error) {
	token, ok := bearer(h)
	if !ok {
		return Credential{}, ErrUnauthenticated
	}
	return a.token(token, now)
}

// Token returns the user of a bearer token at time now.
func (a *Authenticator) Token(token string, now time.Time) (*User, error) {
	credential, err := a.token(token, now)
	return credential.User, err
}

func (a *Authenticator) token(token string, now time.Time) (Credential, error) {
	if len(token) > maxTokenBytes {
		return Credential{}, limit.Reached(limit.TokenSize, ErrUnauthenticated)
	}
	if known, ok := a.static.token(token); ok {
		return Credential{User: known.user, Withdrawn: &known.withdrawn}, nil
	}
	if known, ok := (*a.verified.Load())[token]; ok && now.Before(known.expires) {
		return Credential{User: known.user, Expires: known.expires}, nil
	}
	return a.verify(token, now)
}

// bearer returns the token in the Authorization header. The scheme is case-insensitive, spaces are
// trimmed, and the token must not be empty (J3).
func bearer(h http.Header) (string, bool) {
	values := h["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	token = strings.TrimSpace(token)
	return token, token != ""
}

func (a *Authenticator) verify(token string, now time.Time) (Credential, error) {
	var c claims
	if _, err := a.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return a.key, nil }); err != nil {
		return Credential{}, ErrUnauthenticated
	}
	if c.Subject == "" || !now.Before(c.ExpiresAt.Time) {
		return Credential{}, ErrUnauthenticated
	}
	user := newUser(Identity{Name: c.Subject, UID: c.UID, Groups: c.Groups})
	a.remember(token, verifiedToken{user: user, expires: c.ExpiresAt.Time})
	return Credential{User: user, Expires: c.ExpiresAt.Time}, nil
}

func (a *Authenticator) remember(token string, v verifiedToken) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := map[string]verifiedToken{}
	if old := *a.verified.Load(); len(old) < maxCachedTokens {
		next = maps.Clone(old)
	} else {
		a.flushes.Add(1)
	}
	// The header's string is part of a larger buffer of the connection. Clone the token so that the
	// cache does not retain the buffer.
	next[strings.Clone(token)] = v
	a.verified.Store(&next)
}
