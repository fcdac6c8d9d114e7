package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"quorate/raftstore/state"
)

// entryFormat is the only format of log entries that this build knows.
const entryFormat = 1

var (
	errFormat    = errors.New("unknown format")
	errOperation = errors.New("no operation that this version knows, or more than one")
	errKey       = errors.New("incomplete key, or one with a zero byte")
	errOffset    = errors.New("version offset beyond the value")
	errText      = errors.New("text that is not UTF-8")
)

// Op is the operation of an entry.
type Op uint8

// The operations. The first three concern an object.
const (
	OpCreate Op = iota + 1
	OpUpdate
	OpDelete
	OpInit
	OpPin
)

// Entry is a view of an encoded logpb.Entry. Its slices are parts of the entry's bytes, which must
// not change while it is in use.
type Entry struct {
	format uint32
	op     Op
	time   int64 // by the proposer's clock, in nanoseconds since 1970
	key    key

	object          content // to be stored; of a delete, the final object
	guard           key     // of a create; may be missing
	previousVersion uint64
	previous        content // of an update or delete; not given if labels and fields are unchanged
	attributesKept  bool    // of a delete whose labels and fields are unchanged, so that previous is not given
	uid             []byte  // of the stored object, unless empty

	clusterID []byte // of an init
}

// key is a logpb.Key.
type key struct {
	resource, namespace, name []byte
	given                     bool
}

// content is a logpb.Object: a value without the digits of its version.
type content struct {
	value  []byte
	offset uint32
	uid    []byte
	labels []byte
	fields []byte
	sealed bool
	given  bool
}

// Decode returns a view of an entry without allocating memory. It accepts exactly the entries that
// Apply applies. An entry that it refuses must never reach the log, because every node would stop
// at that entry, again after each restart.
func Decode(data []byte) (Entry, error) {
	var e Entry
	err := e.decode(data)
	return e, err
}

// DecodeProposal is Decode for an entry that another node forwards to this one. It also refuses
// text that is not UTF-8. No node of this program writes such text, because the protobuf library
// neither encodes nor decodes it.
func DecodeProposal(data []byte) (Entry, error) {
	e, err := Decode(data)
	if err == nil && !e.validText() {
		err = errText
	}
	return e, err
}

// Op returns what the entry does.
func (e *Entry) Op() Op { return e.op }

// Time returns when the entry was proposed, by the proposer's clock; the zero time if it does not
// say.
func (e *Entry) Time() time.Time {
	if e.time == 0 {
		return time.Time{}
	}
	return time.Unix(0, e.time)
}

// ClusterID returns the id of the cluster in an init.
func (e *Entry) ClusterID() string { return string(e.clusterID) }

// Precondition returns what a create, update or delete requires of the state. The result shares no
// memory with the entry's bytes.
func (e *Entry) Precondition() state.Precondition {
	p, _ := e.precondition()
	return p
}

// precondition returns the precondition, and the strings of the object that a create stores.
func (e *Entry) precondition() (p state.Precondition, created lasting) {
	if e.op == OpCreate {
		created = e.key.with(e.object.uid, e.object.fields)
		p.Creates, p.Key = true, created.key
		if e.guard.given {
			p.Guard = e.guard.key()
		}
		return p, created
	}
	of := e.key.with(e.uid, nil)
	p.Version, p.Key, p.UID = e.previousVersion, of.key, of.uid
	return p, lasting{}
}

// StoredSize returns what state.Object.Size will be for the object that a create or update stores,
// or a little more, and 0 for other operations.
func (e *Entry) StoredSize() int {
	if e.op != OpCreate && e.op != OpUpdate {
		return 0
	}
	const separators = 2
	keyBytes := len(e.key.resource) + len(e.key.namespace) + len(e.key.name) + separators
	o := &e.object
	return state.SizeOf(keyBytes, len(o.uid), len(o.value), len(o.labels), len(o.fields))
}

func (e *Entry) decode(data []byte) error {
	var message []byte
	err := eachField(data, func(f field) error {
		var op Op
		switch f.number {
		case 1:
			return f.toUint32(&e.format)
		case 2:
			return f.toInt64(&e.time)
		case 3:
			op = OpCreate
		case 4:
			op = OpUpdate
		case 5:
			op = OpDelete
		case 6:
			op = OpInit
		case 7:
			op = OpPin
		default:
			return nil
		}
		if e.op != 0 {
			return errOperation
		}
		e.op = op
		return f.toBytes(&message)
	})
	switch {
	case err != nil && e.format <= entryFormat: // the fields of a newer format are unknown here
		return err
	case e.format != entryFormat:
		return fmt.Errorf("%w %d", errFormat, e.format)
	case e.op == 0:
		return errOperation
	}
	if err := eachField(message, e.operationField); err != nil {
		return err
	}
	return e.complete()
}

// operationField decodes a field of the operation's message.
func (e *Entry) operationField(f field) error {
	switch e.op {
	case OpCreate:
		switch f.number {
		case 1:
			return e.key.take(f)
		case 2:
			return e.object.take(f)
		case 3:
			return e.guard.take(f)
		}
	case OpUpdate:
		switch f.number {
		case 1:
			return e.key.take(f)
		case 2:
			return e.object.take(f)
		case 3:
			return f.toUint64(&e.previousVersion)
		case 4:
			return f.toBytes(&e.uid)
		case 5:
			return e.previous.take(f)
		}
	case OpDelete:
		switch f.number {
		case 1:
			return e.key.take(f)
		case 2:
			return f.toUint64(&e.previousVersion)
		case 3:
			return f.toBytes(&e.uid)
		case 4:
			return e.object.take(f)
		case 5:
			return e.previous.take(f)
		case 6:
			return f.toBool(&e.attributesKept)
		}
	case OpInit:
		if f.number == 1 {
			return f.toBytes(&e.clusterID)
		}
	}
	return nil
}

// complete returns an error if a key or an object is missing.
func (e *Entry) complete() error {
	if e.concernsNoObject() {
		return nil
	}
	if !e.key.given {
		return fmt.Errorf("key: %w", errKey)
	}
	if !e.object.given {
		return errors.New("object is missing")
	}
	return nil
}

// concernsNoObject reports whether the operation concerns no object.
func (e *Entry) concernsNoObject() bool { return e.op == OpInit || e.op == OpPin }

func (k *key) take(f field) error {
	var message []byte
	if err := f.toBytes(&message); err != nil {
		return err
	}
	*k = key{given: true}
	err := eachField(message, func(f field) error {
		switch f.number {
		case 1:
			return f.toBytes(&k.resource)
		case 2:
			return f.toBytes(&k.namespace)
		case 3:
			return f.toBytes(&k.name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(k.resource) == 0 || len(k.name) == 0 || hasZero(k.resource) || hasZero(k.namespace) || hasZero(k.name) {
		return errKey
	}
	return nil
}

// validText reports whether all strings of the entry are UTF-8.
func (e *Entry) validText() bool {
	for _, text := range [...][]byte{
		e.key.resource, e.key.namespace, e.key.name, e.guard.resource, e.guard.namespace, e.guard.name, e.uid, e.clusterID,
		e.object.uid, e.object.labels, e.object.fields, e.previous.uid, e.previous.labels, e.previous.fields,
	} {
		if !utf8.Valid(text) {
			return false
		}
	}
	return true
}

func hasZero(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

// append appends the key in the form of state.NewKey.
func (k *key) append(b []byte) []byte {
	b = append(append(b, k.resource...), 0)
	b = append(append(b, k.namespace...), 0)
	return append(b, k.name...)
}

// lasting has the strings of an object that remain the same for its lifetime, or mostly do. They
// take one allocation, because each one more is one more for each object in memory, which every
// collection visits.
type lasting struct {
	key    state.Key
	uid    string
	fields state.Attributes
}

// with returns the key together with a uid and fields.
func (k *key) with(uid, fields []byte) lasting {
	var scratch [512]byte
	b := k.append(scratch[:0])
	key := len(b)
	b = append(b, uid...)
	s := string(append(b, fields...))
	return lasting{state.Key(s[:key]), s[key:len(b)], state.Attributes(s[len(b):])}
}

// key returns the key alone.
func (k *key) key() state.Key { return k.with(nil, nil).key }

// in reports whether the key lies in a collection.
func (k *key) in(p state.Prefix) bool {
	var scratch [256]byte
	b := k.append(scratch[:0])
	return len(b) >= len(p) && string(b[:len(p)]) == string(p)
}

func (c *content) take(f field) error {
	var message []byte
	if err := f.toBytes(&message); err != nil {
		return err
	}
	*c = content{given: true}
	err := eachField(message, func(f field) error {
		switch f.number {
		case 1:
			return f.toBytes(&c.value)
		case 2:
			return f.toUint32(&c.offset)
		case 3:
			return f.toBytes(&c.uid)
		case 4:
			return f.toBytes(&c.labels)
		case 5:
			return f.toBytes(&c.fields)
		case 6:
			return f.toBool(&c.sealed)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if int(c.offset) > len(c.value) {
		return errOffset
	}
	return nil
}
