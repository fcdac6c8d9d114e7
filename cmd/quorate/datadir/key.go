package datadir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"quorate/cluster/keys"
)

// settleKey chooses the cluster key of this node and stores it in the directory, so that a restart
// needs nothing else.
func (d *Dir) settleKey(cfg Config, storedFingerprint string) error {
	stored, err := keys.Load(d.Path(KeyFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case cfg.Key != nil:
		d.key = cfg.Key
	case stored != nil:
		d.key = stored
	case storedFingerprint != "":
		return fmt.Errorf("%s is gone: put it back from another member, or give --cluster-key-file", d.Path(KeyFile))
	case !cfg.Found:
		return errors.New("joining a cluster needs its key: give --cluster-key-file or QUORATE_CLUSTER_KEY with a copy of a member's cluster.key")
	default:
		d.key = keys.Generate()
		d.GeneratedKey = true
	}
	// A given key must be the one that the directory was created with. This also detects a key file
	// that was replaced.
	if storedFingerprint != "" && storedFingerprint != fingerprint(d.key) {
		return fmt.Errorf("the cluster key is not the one that --data-dir %s was made with: give that key, or choose another directory", d.path)
	}
	if stored != nil && stored.Text() == d.key.Text() {
		return nil
	}
	return d.Write(KeyFile, []byte(d.key.Text()+"\n"), 0o600)
}

// fingerprint returns a hash that distinguishes keys without revealing them.
func fingerprint(key *keys.Key) string {
	sum := sha256.Sum256([]byte("quorate cluster key fingerprint\x00" + key.Text()))
	return hex.EncodeToString(sum[:])
}
