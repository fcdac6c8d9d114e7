package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestKeepNewest(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.KeepNewest(); err != nil {
		t.Fatal(err)
	}
	a := write(t, s, 10, 1, podLike(1000))
	if err := s.KeepNewest(); err != nil {
		t.Fatal(err)
	}
	wantStored(t, s, a)
	b := write(t, s, 20, 1, podLike(2000))
	wantStored(t, s, b, a)
	if err := s.KeepNewest(); err != nil {
		t.Fatal(err)
	}
	wantStored(t, s, b)
	wantFiles(t, s, b)
	wantStored(t, open(t, dir), b)
}

// The older snapshot is all that is left if the newest is damaged.
func TestKeepNewestThatIsDamaged(t *testing.T) {
	s := open(t, t.TempDir())
	a := write(t, s, 10, 1, podLike(1000))
	b := write(t, s, 20, 1, podLike(2000))
	path := filepath.Join(s.dir, b, stateFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *Corrupt
	if err := s.KeepNewest(); !errors.As(err, &damage) || damage.ID != b {
		t.Errorf("got %v", err)
	}
	wantFiles(t, s, a, b)
}
