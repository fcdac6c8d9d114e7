package gossip

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// memberlist's format of an encrypted message: a version, a nonce, and the ciphertext with its tag.
const (
	maxEncryptionVersion = 1
	versionBytes         = 1
)

var (
	errOtherKey     = errors.New("the message is encrypted with another cluster key")
	errNotEncrypted = errors.New("the message is not encrypted")
)

// messageKey checks what other nodes send before memberlist reads it: memberlist writes to its log,
// and nowhere else, that it could not decrypt a message.
type messageKey struct{ aead cipher.AEAD }

func newMessageKey(key []byte) (messageKey, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return messageKey{}, fmt.Errorf("use the gossip key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return messageKey{}, fmt.Errorf("use the gossip key: %w", err)
	}
	return messageKey{aead}, nil
}

// check returns nil if message is encrypted with this key, with authenticated as additional data.
// It returns errNotEncrypted if the message does not have the format of an encrypted message, and
// errOtherKey if it can't be decrypted.
func (k messageKey) check(message, authenticated []byte) error {
	nonce := versionBytes + k.aead.NonceSize()
	if len(message) < nonce+k.aead.Overhead() || message[0] > maxEncryptionVersion {
		return errNotEncrypted
	}
	if _, err := k.aead.Open(nil, message[versionBytes:nonce], message[nonce:], authenticated); err != nil {
		return errOtherKey
	}
	return nil
}
