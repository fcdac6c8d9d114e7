package s3test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fill writes count ConfigMaps that cannot be compressed.
func (c *cluster) fill(t *testing.T, count, bytes int) {
	t.Helper()
	random := make([]byte, bytes)
	for i := range count {
		_, _ = rand.Read(random) // never fails
		content := map[string]string{"content": base64.StdEncoding.EncodeToString(random)}
		if _, _, err := c.clients["n1"].Create(t.Context(), "default", fmt.Sprintf("c%d", i), content); err != nil {
			t.Fatal(err)
		}
	}
}

// restored returns what a restore of a backup prints.
func (c *cluster) restored(t *testing.T, path string) string {
	t.Helper()
	out, err := c.Command(t.Context(), "restore", path, "--name", "n1", "--data-dir", filepath.Join(t.TempDir(), "restored"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// newest returns the newest backup that is not in old, after waiting for it.
func (s *store) newest(t *testing.T, old []string) string {
	t.Helper()
	var latest string
	await(t, "another backup", func() bool {
		if all := s.backups(); len(all) > 0 {
			latest = all[len(all)-1]
		}
		return latest != "" && !slices.Contains(old, latest)
	})
	return latest
}

// Three nodes write one backup for each time to a bucket, keep the newest ones, and go on after the
// store was away and after their leader was killed. What is in the bucket can be restored.
func TestBucketOfACluster(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	foreign := filepath.Join(s.dir, bucketName, prefix, "quorate-0-20200101T000000Z.backup")
	if err := os.MkdirAll(filepath.Dir(foreign), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, []byte("of another cluster"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, 3, s.url(bucketName), secretKey, "--backup-schedule", "@every 2s", "--backup-keep", "2")
	c.fill(t, 100, 1<<10)

	first := s.newest(t, []string{foreign})
	await(t, "the first backup is pruned", func() bool { return !slices.Contains(s.backups(), first) })
	old := s.backups()
	backup := s.newest(t, old)
	held := filepath.Join(t.TempDir(), filepath.Base(backup)) // it will be pruned
	if err := os.Link(backup, held); err != nil {
		t.Fatal(err)
	}
	if out := c.restored(t, held); !strings.HasPrefix(out, "restored 1") {
		t.Errorf("restore of %s printed %s", backup, out)
	}

	s.kill()
	await(t, "a node counts that the store is away", func() bool { return c.failed(t, "unreachable") })
	old = s.backups()
	s.start()
	s.newest(t, old)

	leader := c.leader(t)
	if err := c.Kill(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	s.newest(t, s.backups())
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("the backup of another cluster: %v", err)
	}
}

// An upload of several parts is whole, and one that was cut off by the death of the leader leaves
// nothing behind.
func TestUploadThatWasCutOff(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	c := startCluster(t, 3, s.url(bucketName), secretKey, "--backup-schedule", "@every 5s", "--backup-rate", "8MiB", "--backup-keep", "100")
	c.fill(t, 64, 400<<10) // in base64 34 MiB: three parts
	leader := c.leader(t)
	await(t, "parts of an upload", func() bool { return s.parts() > 0 })
	if err := c.Kill(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	old := s.backups()
	backup := s.newest(t, old)
	await(t, "no parts of an upload", func() bool { return s.parts() == 0 })
	if out := c.restored(t, backup); !strings.HasPrefix(out, "restored ") {
		t.Errorf("restore of %s printed %s", backup, out)
	}
}

// What the operator has to mend is counted by its reason.
func TestReasons(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, c := range []struct{ name, bucket, secret, reason string }{
		{"wrong secret", bucketName, "wrong", "read-only"},
		{"no such bucket", "nowhere", secretKey, "missing-directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			node := startCluster(t, 1, s.url(c.bucket), c.secret, "--backup-schedule", "@every 1s")
			await(t, "a failure of this reason", func() bool { return node.failed(t, c.reason) })
			if all := s.backups(); len(all) > 0 {
				t.Errorf("the bucket has %v", all)
			}
		})
	}
}

// leader returns the name of the leader.
func (c *cluster) leader(t *testing.T) (name string) {
	t.Helper()
	await(t, "a leader", func() bool {
		for _, one := range c.clients {
			members, err := one.Members(t.Context())
			if err != nil {
				continue
			}
			for _, m := range members {
				if m.Role == "leader" {
					name = m.Name
				}
			}
		}
		return name != ""
	})
	return name
}
