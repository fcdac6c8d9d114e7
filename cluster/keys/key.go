package keys

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// secretBytes is the size of the secret before base64.
	secretBytes = 32
	// maxFileBytes bounds what Load reads: the secret's text is 44 bytes and a line end.
	maxFileBytes = 4096
)

// The HKDF labels. A node with another label could not join its cluster: never change one.
const (
	labelGossip    = "quorate gossip v1"
	labelAuthority = "quorate certificate authority v1"
	labelToken     = "quorate token signing v1"
)

// Key is the secret of one cluster. It has no String and is never logged.
type Key struct {
	secret [secretBytes]byte
}

// Generate makes the key of a new cluster.
func Generate() *Key {
	var k Key
	rand.Read(k.secret[:]) // never fails: crypto/rand stops the process rather than return an error
	return &k
}

// Parse reads a key from its text: base64 of 32 bytes, white space around it ignored.
func Parse(text string) (*Key, error) {
	return parse([]byte(text))
}

func parse(text []byte) (*Key, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, errors.New("cluster key is empty: want base64 of 32 bytes")
	}
	secret, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return nil, errors.New("cluster key is not base64: want base64 of 32 bytes") // the cause would quote the secret's text
	}
	if len(secret) != secretBytes {
		return nil, fmt.Errorf("cluster key has %d bytes: want base64 of 32 bytes", len(secret))
	}
	var k Key
	copy(k.secret[:], secret)
	return &k, nil
}

// Load reads the key in a file. A file that others than its owner and group can read, or that its
// group can write, is refused. A missing file is reported as fs.ErrNotExist.
func Load(path string) (*Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read cluster key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read cluster key %s: not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return nil, fmt.Errorf("read cluster key %s: mode %04o lets others at it: chmod 600 it", path, mode)
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("read cluster key %s: %d bytes is no cluster key: want base64 of 32 bytes", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read cluster key: %w", err)
	}
	k, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return k, nil
}

// Save writes the key to a new file, mode 0600, and syncs it: a first node that lost its key could
// never join its cluster again. An existing file is left alone and reported as fs.ErrExist.
func (k *Key) Save(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write cluster key: %w", err)
	}
	_, err = f.WriteString(k.Text() + "\n")
	err = errors.Join(err, f.Sync(), f.Close(), syncDir(filepath.Dir(path)))
	if err != nil {
		return fmt.Errorf("write cluster key: %w", err)
	}
	return nil
}

// LoadOrGenerate loads the key in a file, or makes a new one there when the file is missing.
func LoadOrGenerate(path string) (*Key, error) {
	k, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k = Generate()
	return k, k.Save(path)
}

// Text returns the key as files and QUORATE_CLUSTER_KEY contain it. It is the secret itself.
func (k *Key) Text() string { return base64.StdEncoding.EncodeToString(k.secret[:]) }

// Gossip returns the key that encrypts gossip (AES-256).
func (k *Key) Gossip() []byte { return k.derive(labelGossip, 32) }

// TokenSigning returns the key that signs tokens (HMAC-SHA-256).
func (k *Key) TokenSigning() []byte { return k.derive(labelToken, 32) }

func (k *Key) derive(label string, length int) []byte {
	out, err := hkdf.Key(sha256.New, k.secret[:], nil, label, length)
	if err != nil {
		panic(fmt.Sprintf("derive %q: %v", label, err)) // only a length beyond 255 hashes fails
	}
	return out
}

// syncDir makes a new name in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
