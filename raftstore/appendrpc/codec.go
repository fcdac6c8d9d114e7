package appendrpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/raft"
)

// Numbers are unsigned varints, but the time of an entry, which is a signed one. Bytes follow their
// length.
//
//	request   header  term  previous index  previous term  commit index  number of entries  entries
//	entry     index  term  type  time in nanoseconds of Unix time, noTime for none  data  extensions
//	response  error  header  term  last index  flags
//	header    protocol version  id  address
const (
	noTime = math.MinInt64
	// leastEntryBytes is the size of the smallest entry.
	leastEntryBytes = 6
)

// The flags of a response.
const (
	flagSuccess = 1 << iota
	flagNoRetryBackoff
)

// errMalformed reports a frame that is no request or response.
var errMalformed = errors.New("malformed append message")

func appendBytes(b, field []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(field))), field...)
}

func appendHeader(b []byte, h raft.RPCHeader) []byte {
	b = binary.AppendUvarint(b, uint64(h.ProtocolVersion))
	return appendBytes(appendBytes(b, h.ID), h.Addr)
}

// appendRequest encodes a request without the leader's address of the library's first versions, which
// the header has, too.
func appendRequest(b []byte, req *raft.AppendEntriesRequest) []byte {
	b = appendHeader(b, req.RPCHeader)
	b = binary.AppendUvarint(b, req.Term)
	b = binary.AppendUvarint(b, req.PrevLogEntry)
	b = binary.AppendUvarint(b, req.PrevLogTerm)
	b = binary.AppendUvarint(b, req.LeaderCommitIndex)
	b = binary.AppendUvarint(b, uint64(len(req.Entries)))
	for _, e := range req.Entries {
		b = appendEntry(b, e)
	}
	return b
}

func appendEntry(b []byte, e *raft.Log) []byte {
	b = binary.AppendUvarint(b, e.Index)
	b = binary.AppendUvarint(b, e.Term)
	b = binary.AppendUvarint(b, uint64(e.Type))
	nanos := int64(noTime)
	if !e.AppendedAt.IsZero() {
		nanos = e.AppendedAt.UnixNano()
	}
	b = binary.AppendVarint(b, nanos)
	return appendBytes(appendBytes(b, e.Data), e.Extensions)
}

func appendResponse(b []byte, resp *raft.AppendEntriesResponse, err error) []byte {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	b = appendHeader(appendBytes(b, []byte(reason)), resp.RPCHeader)
	b = binary.AppendUvarint(b, resp.Term)
	b = binary.AppendUvarint(b, resp.LastLog)
	flags := byte(0)
	if resp.Success {
		flags |= flagSuccess
	}
	if resp.NoRetryBackoff {
		flags |= flagNoRetryBackoff
	}
	return append(b, flags)
}

// decoder reads the fields of a frame. After an error all fields are zero.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail() {
	d.rest, d.err = nil, errMalformed
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) signed() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// bytes returns a copy, because whoever keeps one field must not keep the frame. It is nil if the
// field is empty.
func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	if n == 0 {
		return nil
	}
	field := make([]byte, n)
	d.rest = d.rest[copy(field, d.rest):]
	return field
}

func (d *decoder) header() raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: raft.ProtocolVersion(d.number()), ID: d.bytes(), Addr: d.bytes()}
}

// end returns the error of the frame, which must have been read to its end.
func (d *decoder) end() error {
	if d.err == nil && len(d.rest) > 0 {
		return fmt.Errorf("%w: %d bytes too many", errMalformed, len(d.rest))
	}
	return d.err
}

// decodeRequest decodes a request. It keeps nothing of b.
func decodeRequest(b []byte) (*raft.AppendEntriesRequest, error) {
	d := &decoder{rest: b}
	req := &raft.AppendEntriesRequest{RPCHeader: d.header(), Term: d.number()}
	req.PrevLogEntry, req.PrevLogTerm, req.LeaderCommitIndex = d.number(), d.number(), d.number()
	count := d.number()
	if count > uint64(len(d.rest)/leastEntryBytes) {
		return nil, errMalformed
	}
	entries := make([]raft.Log, count)
	req.Entries = make([]*raft.Log, count)
	for i := range entries {
		d.entry(&entries[i])
		req.Entries[i] = &entries[i]
	}
	return req, d.end()
}

func (d *decoder) entry(e *raft.Log) {
	e.Index, e.Term, e.Type = d.number(), d.number(), raft.LogType(d.number())
	if nanos := d.signed(); nanos != noTime {
		e.AppendedAt = time.Unix(0, nanos).UTC()
	}
	e.Data, e.Extensions = d.bytes(), d.bytes()
}

// decodeResponse decodes a response. It returns an error if the follower did, or if b is malformed,
// which is an error that wraps errMalformed.
func decodeResponse(b []byte, resp *raft.AppendEntriesResponse) error {
	d := &decoder{rest: b}
	reason := string(d.bytes())
	resp.RPCHeader = d.header()
	resp.Term, resp.LastLog = d.number(), d.number()
	if len(d.rest) == 0 {
		return errMalformed
	}
	flags := d.rest[0]
	d.rest = d.rest[1:]
	resp.Success, resp.NoRetryBackoff = flags&flagSuccess != 0, flags&flagNoRetryBackoff != 0
	if err := d.end(); err != nil {
		return err
	}
	if reason != "" {
		return errors.New(reason)
	}
	return nil
}
