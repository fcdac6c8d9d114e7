package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// Claim creates the directory if needed and locks it, for a command that works on it while no node
// runs. It checks nothing else: only Path, Write, Node, BindNode, Vacant and Close may be called.
func Claim(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("--data-dir %s cannot be made: %w: choose a directory that this user may write", path, cause(err))
	}
	d := &Dir{path: path}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	return d, nil
}

// Vacant returns an error unless the directory is empty. A cluster key may be there, and a file or
// folder called remainder.
func (d *Dir) Vacant(remainder string) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("read %s: %w", d.path, cause(err))
	}
	for _, e := range entries {
		if !slices.Contains([]string{lockFile, KeyFile, "lost+found", remainder}, e.Name()) {
			return fmt.Errorf("--data-dir %s is not empty (%s): choose another directory, or move what is in it away", d.path, e.Name())
		}
	}
	return nil
}

// Node returns the name and the id of the node that the directory is bound to; both are empty
// before.
func (d *Dir) Node() (name, id string, err error) {
	stored, err := d.readIdentity()
	if err != nil {
		return "", "", err
	}
	id, err = d.readNodeID()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return stored.Name, id, err
}

// BindNode binds the directory to a name, and to the cluster key with which the node is first
// started.
func (d *Dir) BindNode(name string) error {
	text, err := json.Marshal(identity{Format: format, Name: name})
	if err != nil {
		return fmt.Errorf("encode %s: %w", identityFile, err)
	}
	return d.Write(identityFile, append(text, '\n'), 0o600)
}

// Peek returns a directory for reading; it changes nothing and does not keep the lock. No node may
// run on the directory. Only Path, Node and Close may be called.
func Peek(path string) (*Dir, error) {
	if _, err := os.ReadDir(path); err != nil {
		return nil, fmt.Errorf("%s: %w: name the data directory of a node", path, cause(err))
	}
	d := &Dir{path: path}
	lock, err := os.Open(d.Path(lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil // no node ever ran on it
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path(lockFile), cause(err))
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		defer lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is in use by another quorate process%s: ask that node (quorate members), or stop it first", path, holder(lock))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	d.lock = lock
	return d, nil
}
