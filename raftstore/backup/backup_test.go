package backup_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quorate/raftstore/backup"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// at returns the time of the backups in these tests.
func at() time.Time { return time.Unix(1_700_000_000, 123) }

func root(t testing.TB, objects int) *state.Root {
	t.Helper()
	loader, err := state.NewLoader(uint64(objects)+5, "c1", []uint64{3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range objects {
		version := uint64(i) + 4
		o := &state.Object{
			Key: state.NewKey("configmaps", "default", fmt.Sprintf("name-%05d", i)), UID: fmt.Sprintf("uid-%d", i), Version: version, Created: version,
			Value: state.Splice([]byte(`{"resourceVersion":""}`), 20, version), VersionOffset: 20,
		}
		if err := loader.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return loader.Tree().Publish()
}

// empty returns the state of a cluster without objects.
func empty(t testing.TB, cluster string) *state.Root {
	t.Helper()
	loader, err := state.NewLoader(8, cluster, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return loader.Tree().Publish()
}

func write(t testing.TB, r *state.Root) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := backup.Write(&b, r, backup.Header{Time: at(), Node: "n1", Build: "v1.2.3"}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func snapshotOf(t testing.TB, r *state.Root) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := fsm.WriteSnapshot(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBackup_round_trip(t *testing.T) {
	t.Parallel()
	want := root(t, 500)
	file := write(t, want)
	header := backup.Header{ClusterID: "c1", Index: 505, Objects: 500, Time: at(), Node: "n1", Build: "v1.2.3"}
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(file), "bytewise": iotest.OneByteReader(bytes.NewReader(file)), "data with EOF": iotest.DataErrReader(bytes.NewReader(file)),
	} {
		h, got, err := backup.Read(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(header, h); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if !bytes.Equal(snapshotOf(t, want), snapshotOf(t, got)) {
			t.Errorf("%s: the state read differs from the one written", name)
		}
	}
	h, err := backup.Verify(bytes.NewReader(file))
	if diff := cmp.Diff(header, h); diff != "" || err != nil {
		t.Errorf("verified: %v %s", err, diff)
	}
}

func TestBackup_detects_truncation_and_flipped_bytes(t *testing.T) {
	t.Parallel()
	good := write(t, root(t, 3))
	for n := range good {
		refused(t, fmt.Sprintf("cut after %d of %d", n, len(good)), good[:n], "")
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(good)
			bad[n] ^= bit
			refused(t, fmt.Sprintf("byte %d of %d changed", n, len(good)), bad, "")
		}
	}
}

func TestBackup_errors(t *testing.T) {
	t.Parallel()
	good := write(t, root(t, 3))
	newer := bytes.Clone(good)
	newer[len("quorate-backup")] = 2
	long := bytes.Clone(good)
	copy(long[len("quorate-backup")+1:], "\xff\xff\xff\xff")
	header := bytes.Clone(good)
	header[len("quorate-backup")+8] ^= 1
	other := write(t, root(t, 4))
	swapped := append(bytes.Clone(good[:bytes.Index(good, []byte("quorate\x01"))]), other[bytes.Index(other, []byte("quorate\x01")):]...)
	alien, own := write(t, empty(t, "c2")), write(t, empty(t, "c1"))
	foreign := append(bytes.Clone(own[:bytes.Index(own, []byte("quorate\x01"))]), alien[bytes.Index(alien, []byte("quorate\x01")):]...)
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "is empty"},
		{"a beginning", good[:9], "is cut short"},
		{"half", good[:len(good)/2], "is "},
		{"all but the end", good[:len(good)-12], "is cut short"},
		{"text", []byte("apiVersion: v1\nkind: List\nitems: []\n"), "is not a backup of quorate"},
		{"short text", []byte("hello\n"), "is not a backup of quorate"},
		{"a snapshot", good[bytes.Index(good, []byte("quorate\x01")):], "is not a backup of quorate"},
		{"a newer format", newer, "is a backup of format 2, which this version can't read"},
		{"a long header", long, "its header can't be so long"},
		{"a bit of the header", header, "the checksum of its header does not match"},
		{"another content", swapped, "its header is of another state than its content"},
		{"another cluster's content", foreign, "its header is of another state than its content"},
		{"more after the end", append(bytes.Clone(good), "x"...), "damaged"},
		{"a second copy", append(bytes.Clone(good), good...), "damaged"},
	} {
		refused(t, c.name, c.file, c.want)
	}
}

func refused(t *testing.T, name string, file []byte, want string) {
	t.Helper()
	_, verified := backup.Verify(bytes.NewReader(file))
	_, _, err := backup.Read(bytes.NewReader(file))
	var damaged *backup.Damaged
	switch {
	case !errors.As(err, &damaged) || verified == nil || verified.Error() != err.Error():
		t.Errorf("%s: read: %v; verified: %v", name, err, verified)
	case !strings.Contains(err.Error(), want) && !(want == "damaged" && strings.Contains(err.Error(), "cut short")) || strings.Contains(err.Error(), "\n"):
		t.Errorf("%s: %q, want %q", name, err, want)
	}
}

func TestBackup_distinguishes_a_read_error_from_damage(t *testing.T) {
	t.Parallel()
	good := write(t, root(t, 3))
	for n := range good {
		broken := io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(errors.New("disk on fire")))
		if _, err := backup.Verify(broken); err == nil || errors.As(err, new(*backup.Damaged)) || !strings.Contains(err.Error(), "disk on fire") {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(write(f, root(f, 3)))
	f.Add([]byte("quorate-backup\x01"))
	f.Fuzz(func(t *testing.T, file []byte) {
		h, r, err := backup.Read(bytes.NewReader(file))
		verified, err2 := backup.Verify(bytes.NewReader(file))
		if (err == nil) != (err2 == nil) || h != verified {
			t.Fatalf("read %v, %v; verified %v, %v", h, err, verified, err2)
		}
		if err == nil && (r.Index() != h.Index || uint64(r.Len()) != h.Objects) {
			t.Fatalf("%v of %d objects at %d", h, r.Len(), r.Index())
		}
	})
}
