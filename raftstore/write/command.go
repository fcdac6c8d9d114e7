package write

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/failure"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// entryFormat is the format of the log entries written.
const entryFormat = 1

// command is a write with its encoded log entry. What the write requires is derived from the
// entry's bytes, so the leader and the state machine can't disagree about it.
type command struct {
	state.Precondition        // empty for a pin, which concerns no object
	pins               bool   // whether the write is a pin
	frees              bool   // whether the write is part of a removal
	client             uint64 // see Update
	size               int    // of the object that it stores, by state.Object.Size
	data               []byte
}

// refusal returns the reason for which a state refuses the command, nil if it does not (see
// state.Precondition.Check).
func (c *command) refusal(root *state.Root) error {
	_, err := c.Check(root)
	return err
}

// Encode returns the log entry that proposes the create.
func (c Create) Encode() ([]byte, error) {
	if c.Object == nil {
		return nil, errors.New("create: no object")
	}
	return encode(&logpb.Entry{Op: &logpb.Entry_Create{Create: &logpb.Create{
		Key: keyMessage(c.Key), Object: objectMessage(c.Object), Guard: keyMessage(c.Guard),
	}}})
}

// Encode returns the log entry that proposes the update.
func (u Update) Encode() ([]byte, error) {
	if u.Object == nil || u.Previous == nil {
		return nil, errors.New("update: Object or Previous is missing")
	}
	update := &logpb.Update{
		Key: keyMessage(u.Key), Object: objectMessage(u.Object), PreviousVersion: u.Previous.Version, Uid: u.UID,
	}
	if u.Object.Labels != u.Previous.Labels || u.Object.Fields != u.Previous.Fields {
		update.Previous = objectMessage(withoutVersion(u.Previous))
	}
	return encode(&logpb.Entry{Op: &logpb.Entry_Update{Update: update}})
}

// Encode returns the log entry that proposes the deletion.
func (d Delete) Encode() ([]byte, error) {
	if d.Previous == nil {
		return nil, errors.New("delete: Previous is missing")
	}
	final := d.final()
	kept := final.Labels == d.Previous.Labels && final.Fields == d.Previous.Fields
	message := &logpb.Delete{
		Key: keyMessage(d.Key), PreviousVersion: d.Previous.Version, Uid: d.UID, Final: objectMessage(final), AttributesKept: kept,
	}
	if !kept {
		message.Previous = objectMessage(withoutVersion(d.Previous))
	}
	entry := &logpb.Entry{Op: &logpb.Entry_Delete{Delete: message}}
	data, err := encode(entry)
	if errors.Is(err, failure.ErrTooLarge) && message.Previous != nil {
		// A deletion is never refused for its size. Without Previous, Replay reads the removed
		// object from the entry that wrote it.
		message.Previous = nil
		return encode(entry)
	}
	return data, err
}

// final returns the last state of the object without the digits of its version.
func (d Delete) final() *state.Object {
	if d.Final != nil {
		return d.Final
	}
	return withoutVersion(d.Previous)
}

// encode returns the bytes of an entry. The node that receives the request calls it, and the entry
// has this node's time.
func encode(entry *logpb.Entry) ([]byte, error) {
	entry.Format = entryFormat
	entry.TimeUnixNano = time.Now().UnixNano()
	data, err := proto.Marshal(entry)
	if err != nil {
		return nil, fmt.Errorf("encode log entry: %w", err)
	}
	if len(data) > MaxEntryBytes {
		return nil, fmt.Errorf("%d bytes, at most %d: %w", len(data), MaxEntryBytes, failure.ErrTooLarge)
	}
	return data, nil
}

// encoded returns the command of an entry that this node has encoded. An entry that fsm.Decode
// refuses must not reach the log.
func encoded(data []byte, err error) (*command, error) {
	if err != nil {
		return nil, err
	}
	entry, err := fsm.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("encode log entry: %w", err)
	}
	return newCommand(data, &entry), nil
}

func (c Create) command() (*command, error) {
	command, err := encoded(c.Encode())
	if err != nil {
		return nil, err
	}
	command.frees = c.Frees
	return command, nil
}

func (u Update) command() (*command, error) {
	c, err := encoded(u.Encode())
	if err != nil {
		return nil, err
	}
	c.frees, c.client = u.Frees, u.Client
	return c, nil
}

func (d Delete) command() (*command, error) {
	c, err := encoded(d.Encode())
	if err != nil {
		return nil, err
	}
	c.frees = true
	return c, nil
}

// pinCommand returns the command of a pin.
func pinCommand() (*command, error) {
	return encoded(encode(&logpb.Entry{Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}}}))
}

// initEntry returns an entry that sets the cluster's id to a new one if id is "". If the cluster
// already has an id, the entry changes nothing.
func initEntry(id string) ([]byte, error) {
	if id == "" {
		id = rand.Text()
	}
	data, err := proto.Marshal(&logpb.Entry{
		Format: entryFormat, TimeUnixNano: time.Now().UnixNano(),
		Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: id}},
	})
	if err != nil {
		return nil, fmt.Errorf("encode init entry: %w", err)
	}
	return data, nil
}

// decode returns the command of an entry that another node has encoded.
func decode(data []byte) (*command, error) {
	if len(data) > MaxEntryBytes {
		return nil, failure.ErrTooLarge
	}
	entry, err := fsm.DecodeProposal(data)
	if err != nil {
		return nil, fmt.Errorf("decode log entry: %w", err)
	}
	if entry.Op() == fsm.OpInit {
		return nil, errors.New("decode log entry: only the leader may set a cluster's id")
	}
	return newCommand(data, &entry), nil
}

func newCommand(data []byte, entry *fsm.Entry) *command {
	if entry.Op() == fsm.OpPin {
		return &command{data: data, pins: true}
	}
	return &command{data: data, Precondition: entry.Precondition(), size: entry.StoredSize()}
}

func keyMessage(k state.Key) *logpb.Key {
	if k == "" {
		return nil
	}
	resource, namespace, name := k.Split()
	return &logpb.Key{Resource: resource, Namespace: namespace, Name: name}
}

func objectMessage(o *state.Object) *logpb.Object {
	return &logpb.Object{
		Value: o.Value, VersionOffset: o.VersionOffset, Uid: o.UID,
		Labels: string(o.Labels), Fields: string(o.Fields), Sealed: o.Sealed,
	}
}

// withoutVersion returns the object with its version's digits removed from Value.
func withoutVersion(o *state.Object) *state.Object {
	gap := *o
	at := int(o.VersionOffset)
	rest := o.Value[at+len(strconv.FormatUint(o.Version, 10)):]
	gap.Value = append(append(make([]byte, 0, at+len(rest)), o.Value[:at]...), rest...)
	return &gap
}
