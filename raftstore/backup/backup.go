package backup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

const (
	// magic starts a backup; its last byte is the version of the format.
	magic = "quorate-backup\x01"
	// maxHeaderBytes bounds the memory for a header whose length is damaged.
	maxHeaderBytes = 64 << 10
	// lengthBytes is the size of a length and of a checksum.
	lengthBytes = 4
)

// Header describes a backup.
type Header struct {
	ClusterID string
	Index     uint64 // log index of the state: the resourceVersion of its lists
	Objects   uint64
	Time      time.Time // when the backup was taken
	Node      string    // the node that wrote it
	Build     string    // the version of the node's program
}

// Damaged reports a file that is not a backup, or that is damaged. Its message follows the name of
// the file.
type Damaged struct{ Reason string }

func (e *Damaged) Error() string { return e.Reason }

// Write writes a backup of a state. It uses only Time, Node and Build of h. It streams the objects,
// and blocks no writes, because the state does not change.
func Write(w io.Writer, root *state.Root, h Header) error {
	header, err := proto.Marshal(&logpb.BackupHeader{
		ClusterId: root.ClusterID(), Index: root.Index(), Objects: uint64(root.Len()),
		TimeUnixNano: h.Time.UnixNano(), Node: h.Node, Build: h.Build,
	})
	if err != nil {
		return fmt.Errorf("encode the backup's header: %w", err)
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(header)))
	head = append(head, header...)
	head = binary.LittleEndian.AppendUint32(head, checksum(header))
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("write the backup's header: %w", err)
	}
	content := snapshot.NewWriter(w)
	return errors.Join(fsm.WriteSnapshot(content, root), content.Close())
}

// Verify reads a backup to its end and checks all of it without keeping the objects. The error of a
// damaged file is *Damaged.
func Verify(r io.Reader) (Header, error) {
	return read(r, fsm.CheckSnapshot)
}

// Read checks a backup like Verify, and returns its state as well.
func Read(r io.Reader) (Header, *state.Root, error) {
	var root *state.Root
	h, err := read(r, func(content io.Reader) (fsm.Summary, error) {
		tree, err := fsm.ReadSnapshot(content)
		if err != nil {
			return fsm.Summary{}, err
		}
		root = tree.Publish()
		return fsm.Summary{Index: root.Index(), Objects: uint64(root.Len()), ClusterID: root.ClusterID()}, nil
	})
	if err != nil {
		return Header{}, nil, err
	}
	return h, root, nil
}

func read(r io.Reader, check func(io.Reader) (fsm.Summary, error)) (Header, error) {
	h, err := readHeader(r)
	if err != nil {
		return Header{}, err
	}
	found, err := check(snapshot.NewReader(r))
	if err != nil {
		return Header{}, damage(err)
	}
	if found != (fsm.Summary{Index: h.Index, Objects: h.Objects, ClusterID: h.ClusterID}) {
		return Header{}, &Damaged{"is damaged: its header is of another state than its content"}
	}
	return h, nil
}

func readHeader(r io.Reader) (Header, error) {
	start := make([]byte, len(magic)+lengthBytes)
	n, err := io.ReadFull(r, start)
	switch begun := string(start[:min(n, len(magic))]); {
	case err != nil && !cutShort(err):
		return Header{}, fmt.Errorf("read the backup: %w", err)
	case n == 0:
		return Header{}, &Damaged{"is empty"}
	case begun != magic[:len(begun)] && len(begun) == len(magic) && begun[:len(magic)-1] == magic[:len(magic)-1]:
		return Header{}, &Damaged{fmt.Sprintf("is a backup of format %d, which this version can't read: use the version that wrote it, or a newer one",
			begun[len(magic)-1])}
	case begun != magic[:len(begun)]:
		return Header{}, &Damaged{"is not a backup of quorate"}
	case err != nil:
		return Header{}, &Damaged{"is cut short"}
	}
	length := binary.LittleEndian.Uint32(start[len(magic):])
	if length > maxHeaderBytes {
		return Header{}, &Damaged{"is damaged: its header can't be so long"}
	}
	header := make([]byte, length+lengthBytes)
	if _, err := io.ReadFull(r, header); cutShort(err) {
		return Header{}, &Damaged{"is cut short"}
	} else if err != nil {
		return Header{}, fmt.Errorf("read the backup: %w", err)
	}
	return decodeHeader(header[:length], binary.LittleEndian.Uint32(header[length:]))
}

func decodeHeader(b []byte, sum uint32) (Header, error) {
	var h logpb.BackupHeader
	if checksum(b) != sum {
		return Header{}, &Damaged{"is damaged: the checksum of its header does not match"}
	}
	if err := proto.Unmarshal(b, &h); err != nil {
		return Header{}, &Damaged{"is damaged: its header can't be decoded"}
	}
	return Header{
		ClusterID: h.GetClusterId(), Index: h.GetIndex(), Objects: h.GetObjects(),
		Time: time.Unix(0, h.GetTimeUnixNano()), Node: h.GetNode(), Build: h.GetBuild(),
	}, nil
}

// damage returns *Damaged for damaged content, and otherwise the error of reading the file.
func damage(err error) error {
	var bad *snapshot.Corrupt
	switch {
	case errors.As(err, &bad):
		return &Damaged{bad.Reason}
	case errors.Is(err, fsm.ErrSnapshotCorrupt):
		return &Damaged{"is damaged: " + err.Error()}
	}
	return fmt.Errorf("read the backup: %w", err)
}

func cutShort(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
