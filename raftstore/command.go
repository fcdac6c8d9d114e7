package raftstore

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/forward"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// entryFormat is the format of the log entries written.
const entryFormat = 1

// command is a write on its way: what it is about, and its bytes for the log.
type command struct {
	forward.Subject
	creates bool
	pins    bool   // a state, and is about no object
	frees   bool   // is part of a deletion
	client  uint64 // see Update
	data    []byte
}

// refusal says why the command can't be applied to a state, or nil. For an update or delete whose version the state has
// reached it is final: a version that is gone never comes back. Apply decides the same way, in the same order.
func (c *command) refusal(root *state.Root) error {
	if c.pins {
		return nil
	}
	have := root.Get(c.Key)
	if c.creates {
		if c.Guard != "" {
			guard := root.Get(c.Guard)
			if guard == nil || guard.Sealed {
				return &state.GuardFailed{Guard: c.Guard, Sealed: guard != nil}
			}
		}
		if have != nil {
			return &state.Exists{Key: c.Key}
		}
		return nil
	}
	switch {
	case have == nil:
		return &state.NotFound{Key: c.Key}
	case c.UID != "" && have.UID != c.UID:
		return &state.UIDMismatch{Key: c.Key, Want: c.UID, Have: have.UID}
	case have.Version != c.Version:
		return &state.Conflict{Key: c.Key, Want: c.Version, Have: have.Version}
	}
	return nil
}

func (c Create) command() (*command, error) {
	if c.Object == nil {
		return nil, errors.New("create: no object")
	}
	return encode(
		command{Subject: forward.Subject{Key: c.Key, Guard: c.Guard}, creates: true},
		&logpb.Entry{Op: &logpb.Entry_Create{Create: &logpb.Create{
			Key: keyMessage(c.Key), Object: objectMessage(c.Object), Guard: keyMessage(c.Guard),
		}}},
	)
}

func (u Update) command() (*command, error) {
	if u.Object == nil || u.Previous == nil {
		return nil, errors.New("update: no object, or none that it replaces")
	}
	update := &logpb.Update{
		Key: keyMessage(u.Key), Object: objectMessage(u.Object), PreviousVersion: u.Previous.Version, Uid: u.UID,
	}
	if u.Object.Labels != u.Previous.Labels || u.Object.Fields != u.Previous.Fields {
		update.Previous = objectMessage(withoutVersion(u.Previous))
	}
	return encode(
		command{Subject: forward.Subject{Key: u.Key, Version: u.Previous.Version, UID: u.UID}, frees: u.Frees, client: u.Client},
		&logpb.Entry{Op: &logpb.Entry_Update{Update: update}},
	)
}

func (d Delete) command() (*command, error) {
	if d.Previous == nil {
		return nil, errors.New("delete: no object that is to go")
	}
	final := d.final()
	kept := final.Labels == d.Previous.Labels && final.Fields == d.Previous.Fields
	message := &logpb.Delete{
		Key: keyMessage(d.Key), PreviousVersion: d.Previous.Version, Uid: d.UID, Final: objectMessage(final), AttributesKept: kept,
	}
	if !kept {
		message.Previous = objectMessage(withoutVersion(d.Previous))
	}
	subject := command{Subject: forward.Subject{Key: d.Key, Version: d.Previous.Version, UID: d.UID}, frees: true}
	entry := &logpb.Entry{Op: &logpb.Entry_Delete{Delete: message}}
	c, err := encode(subject, entry)
	if errors.Is(err, ErrTooLarge) && message.Previous != nil {
		// No deletion is refused for its size. Replay reads the removed object from the entry that wrote it.
		message.Previous = nil
		return encode(subject, entry)
	}
	return c, err
}

// final is the last state of the object, without the digits of its version.
func (d Delete) final() *state.Object {
	if d.Final != nil {
		return d.Final
	}
	return withoutVersion(d.Previous)
}

// encode makes the entry's bytes, once, on the node that the request came to; the time is that node's.
func encode(c command, entry *logpb.Entry) (*command, error) {
	entry.Format = entryFormat
	entry.TimeUnixNano = time.Now().UnixNano()
	data, err := proto.Marshal(entry)
	if err != nil {
		return nil, fmt.Errorf("encode log entry: %w", err)
	}
	if len(data) > MaxEntryBytes {
		return nil, fmt.Errorf("%d bytes, at most %d: %w", len(data), MaxEntryBytes, ErrTooLarge)
	}
	// Such an entry would stop every replica, so it must not come near the log.
	if err := fsm.Check(data); err != nil {
		return nil, fmt.Errorf("encode log entry: %w", err)
	}
	c.data = data
	return &c, nil
}

// decode makes the command of an entry that a peer has encoded.
func decode(data []byte) (*command, error) {
	if len(data) > MaxEntryBytes {
		return nil, ErrTooLarge
	}
	if err := fsm.Check(data); err != nil {
		return nil, fmt.Errorf("decode log entry: %w", err)
	}
	var entry logpb.Entry
	if err := proto.Unmarshal(data, &entry); err != nil {
		return nil, fmt.Errorf("decode log entry: %w", err)
	}
	c := &command{data: data}
	switch op := entry.GetOp().(type) {
	case *logpb.Entry_Create:
		c.creates = true
		c.Key, c.Guard = keyOf(op.Create.GetKey()), keyOf(op.Create.GetGuard())
	case *logpb.Entry_Update:
		c.Key, c.Version, c.UID = keyOf(op.Update.GetKey()), op.Update.GetPreviousVersion(), op.Update.GetUid()
	case *logpb.Entry_Delete:
		c.Key, c.Version, c.UID = keyOf(op.Delete.GetKey()), op.Delete.GetPreviousVersion(), op.Delete.GetUid()
	case *logpb.Entry_Pin:
		c.pins = true
	default:
		return nil, fmt.Errorf("decode log entry: unexpected operation %T", op)
	}
	return c, nil
}

func keyMessage(k state.Key) *logpb.Key {
	if k == "" {
		return nil
	}
	resource, namespace, name := k.Split()
	return &logpb.Key{Resource: resource, Namespace: namespace, Name: name}
}

func keyOf(k *logpb.Key) state.Key {
	if k == nil {
		return ""
	}
	return state.NewKey(k.GetResource(), k.GetNamespace(), k.GetName())
}

func objectMessage(o *state.Object) *logpb.Object {
	return &logpb.Object{
		Value: o.Value, VersionOffset: o.VersionOffset, Uid: o.UID,
		Labels: string(o.Labels), Fields: string(o.Fields), Sealed: o.Sealed,
	}
}

// withoutVersion returns the object with its version's digits cut out of Value.
func withoutVersion(o *state.Object) *state.Object {
	gap := *o
	at := int(o.VersionOffset)
	rest := o.Value[at+len(strconv.FormatUint(o.Version, 10)):]
	gap.Value = append(append(make([]byte, 0, at+len(rest)), o.Value[:at]...), rest...)
	return &gap
}
