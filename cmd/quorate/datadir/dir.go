package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"quorate/cluster/keys"
)

// The names of the files. Operators and scripts rely on those of the key and the credentials.
const (
	KeyFile        = "cluster.key"
	CAFile         = "ca.crt"
	TokenFile      = "admin.token"
	KubeconfigFile = "admin.kubeconfig"
	nodeIDFile     = "node-id"
	identityFile   = "identity.json"
	lockFile       = "lock"
)

// format is the version of the directory's layout that this build writes. It refuses newer ones, and
// changes older ones. In format 1 the Raft log was one bolt file.
const format = 2

// identity is the node and the cluster that the directory belongs to.
type identity struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	// KeyFingerprint is a hash of the cluster key, by which Open detects a changed key before the
	// other nodes reject it.
	KeyFingerprint string `json:"keyFingerprint"`
}

// Dir is an open data directory, locked for this process until Close.
type Dir struct {
	path   string
	name   string
	lock   *os.File
	nodeID string
	key    *keys.Key
	// GeneratedKey reports that Open generated the key: this is the first node of a new cluster.
	GeneratedKey bool
}

// Config describes the directory that Open expects.
type Config struct {
	Path string
	Name string // name of this node
	// Key is the cluster key given by the operator, nil if none.
	Key *keys.Key
	// Found permits Open to generate a key, because this node may be the first of a new cluster.
	Found bool
}

// Open creates the directory if needed, locks it, and checks that it belongs to this node and
// cluster.
func Open(cfg Config) (*Dir, error) {
	if err := os.MkdirAll(cfg.Path, 0o700); err != nil {
		return nil, fmt.Errorf("--data-dir %s cannot be made: %w: choose a directory that this user may write", cfg.Path, cause(err))
	}
	d := &Dir{path: cfg.Path, name: cfg.Name}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	if err := d.load(cfg); err != nil {
		d.lock.Close()
		return nil, err
	}
	return d, nil
}

// WritableByOthers reports whether the group of the directory, or others, can write to it, and its
// mode.
func (d *Dir) WritableByOthers() (mode fs.FileMode, writable bool, err error) {
	info, err := os.Stat(d.path)
	if err != nil {
		return 0, false, fmt.Errorf("--data-dir %s: %w", d.path, cause(err))
	}
	mode = info.Mode().Perm()
	return mode, mode&0o022 != 0, nil
}

// acquire takes the lock, which the kernel releases when the process ends for any reason.
func (d *Dir) acquire() error {
	lock, err := os.OpenFile(d.Path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("--data-dir %s is not writable: %w: give it to this user, or choose another", d.path, cause(err))
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("--data-dir %s is in use by another quorate process%s: stop that one, or choose another directory", d.path, holder(lock))
		}
		return fmt.Errorf("lock --data-dir %s: %w", d.path, err)
	}
	d.lock = lock
	if err := errors.Join(lock.Truncate(0), writePID(lock)); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", d.Path(lockFile), cause(err)), lock.Close())
	}
	return nil
}

// writePID writes the process id into the lock file for people to read; the kernel holds the lock.
func writePID(lock *os.File) error {
	_, err := fmt.Fprintln(lock, os.Getpid())
	return err
}

// holder returns the process id in the lock file, if it can be read.
func holder(lock *os.File) string {
	var pid int
	if _, err := fmt.Fscanln(lock, &pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (%d)", pid)
}

func (d *Dir) load(cfg Config) error {
	stored, err := d.readIdentity()
	if err != nil {
		return err
	}
	if stored.Format > format {
		return fmt.Errorf("--data-dir %s has format %d and this build knows up to %d: run the newer version of quorate that wrote it",
			d.path, stored.Format, format)
	}
	if stored.Name != "" && stored.Name != cfg.Name {
		return fmt.Errorf("--data-dir %s belongs to the node %q, not %q: give --name %s, or choose another directory",
			d.path, stored.Name, cfg.Name, stored.Name)
	}
	if err := d.settleKey(cfg, stored.KeyFingerprint); err != nil {
		return err
	}
	if err := d.settleNodeID(); err != nil {
		return err
	}
	return d.upgrade(stored)
}

// upgrade gives a directory of an older format the present one, before anything else in it changes. A
// build that knows only the older format would not find the log, and would take the node for empty.
func (d *Dir) upgrade(stored identity) error {
	if stored.Format == 0 || stored.Format == format {
		return nil
	}
	stored.Format = format
	return d.writeIdentity(stored)
}

func (d *Dir) readIdentity() (identity, error) {
	var stored identity
	text, err := os.ReadFile(d.Path(identityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return stored, nil
	}
	if err != nil {
		return stored, fmt.Errorf("read %s: %w", d.Path(identityFile), cause(err))
	}
	if err := json.Unmarshal(text, &stored); err != nil || stored.Format < 1 || stored.Name == "" {
		return stored, fmt.Errorf("%s is damaged: restore it, or start with an empty --data-dir and let the cluster fill it", d.Path(identityFile))
	}
	return stored, nil
}

// Commit binds the directory to this node's name and cluster key. It is called once the node
// belongs to a cluster, so that a node that was refused may start again under another name or key.
func (d *Dir) Commit() error {
	return d.writeIdentity(identity{Format: format, Name: d.name, KeyFingerprint: fingerprint(d.key)})
}

func (d *Dir) writeIdentity(i identity) error {
	text, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encode %s: %w", identityFile, err)
	}
	text = append(text, '\n')
	if stored, err := os.ReadFile(d.Path(identityFile)); err == nil && bytes.Equal(stored, text) {
		return nil // already stored; a running node needs no space
	}
	return d.Write(identityFile, text, 0o600)
}

// settleNodeID reads or generates the id that distinguishes this node from others of the same name.
func (d *Dir) settleNodeID() (err error) {
	d.nodeID, err = d.readNodeID()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	id, err := uuid.NewV7() // ordered by time: of two nodes with one name the older one wins
	if err != nil {
		return fmt.Errorf("make a node id: %w", err)
	}
	d.nodeID = id.String()
	return d.Write(nodeIDFile, []byte(d.nodeID+"\n"), 0o600)
}

func (d *Dir) readNodeID() (string, error) {
	text, err := os.ReadFile(d.Path(nodeIDFile))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", d.Path(nodeIDFile), cause(err))
	}
	id, err := uuid.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return "", fmt.Errorf("%s is damaged: restore it, or start with an empty --data-dir and let the cluster fill it", d.Path(nodeIDFile))
	}
	return id.String(), nil
}

// NodeID returns the id of this node.
func (d *Dir) NodeID() string { return d.nodeID }

// Key returns the cluster key.
func (d *Dir) Key() *keys.Key { return d.key }

// Path returns the path of a file in the directory.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Close releases the lock.
func (d *Dir) Close() error {
	if d.lock == nil {
		return nil
	}
	return d.lock.Close()
}

// cause removes from err the path that the caller's message names.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
