package gossip

import (
	"bytes"
	"compress/lzw"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/memberlist"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/roster"
)

// The types of memberlist's messages: their first bytes.
const (
	msgPing = iota
	msgIndirectPing
	msgAck
	msgSuspect
	msgAlive
	msgDead
	msgPushPull
	msgCompound
	msgUser
	msgCompressed
	msgEncrypted
	msgNack
	msgWithCRC
	msgError
	msgOther // of a type that memberlist lacks
	msgTypes
)

// FuzzMessages sends memberlist's messages to a node, in packets and in streams, encrypted with the
// cluster's key, with another key, or not at all; alone, in compounds, compressed and with
// checksums. It runs in a bubble of synctest: an input fails if the node panics, or if a goroutine
// remains or waits forever. Messages that are not encrypted with the key may change nothing but
// counters.
func FuzzMessages(f *testing.F) {
	f.Add([]byte{msgAlive, 0, 1, 1, 0})
	f.Add([]byte{msgAlive, 0, 1, 1, 0, msgSuspect, 0, 1, 1, 0, msgDead, 0, 1, 1, 0})
	f.Add([]byte{msgPushPull, 0x80, 1, 0, 0, 0, 0, 1, 1, 2, 1, 0, 5, msgUser, 0, 3, 'a', 'b', 'c'})
	f.Add([]byte{msgPushPull, 0x80, 2, 0, 0, 0, 1, 1, 1, 2, 1, 0, 5, 0, 1, 2, 8, 3, 5, msgPushPull, 0x80, 1, 0, 0, 0, 0, 5, 1, 2, 5, 0, 5})
	f.Add([]byte{msgPushPull, 0x80, 1, 0, 0, 0, 0, 2, 1, 2, 66, 0, 5, msgAlive, 0, 5, 1, 2, 5, 0, 5, msgAlive, 0, 1, 1, 2, 129, 0, 5})
	f.Add([]byte{msgCompound, 0, 3, msgAlive, 0, 2, 2, 0, msgPing, 0, 1, 0, msgNack, 0})
	f.Add([]byte{msgCompressed, 0, msgCompressed, 0, msgAlive, 0, 3, 1, 1, msgWithCRC, 0, msgDead, 0, 0, 9, 0})
	f.Add([]byte{msgAlive, 0x40, 1, 1, 0, msgIndirectPing, 0x20, 1, 1, msgError, 0x80, 4, 'o', 'o', 'p', 's', msgOther, 0, 1, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		synctest.Test(t, func(t *testing.T) { gossipWith(t, &messages{in: in}) })
	})
}

// gossipWith runs a node and sends it the messages.
func gossipWith(t *testing.T, in *messages) {
	key, other := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{8}, 32)
	var out countLines
	g, err := New(Config{
		Self: Meta{Name: "self", NodeID: "id-self", Start: 5, Nonce: "x", PeerAddr: "192.0.2.1:1", Cluster: "c", Member: true},
		Addr: "192.0.2.1:7946", Key: key, Scale: 1, Roster: &freeNames{},
		Logger: slog.New(slog.NewTextHandler(&out, nil)), Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	streams := newStreams(g)
	accepted := make(chan net.Conn)
	stopStreams := running(func(ctx context.Context) { streams.run(ctx, accepted) })
	wire := &memoryTransport{packets: make(chan *memberlist.Packet), streams: streams.admitted}
	cfg := g.profile()
	cfg.Name, cfg.Transport, cfg.Logger = g.cfg.Self.gossipName(), wire, log.New(newLogWriter(g), "", 0)
	list, err := memberlist.Create(cfg)
	if err != nil {
		t.Fatal(err)
	}
	g.list.Store(list)
	ctx, cancel := context.WithCancel(t.Context())
	logged := make(chan error, 1)
	go func() { logged <- g.writeFindings(ctx) }()

	const maxMessages = 200
	start := time.Now()
	trusted := false // a message was encrypted with the key
	for n := 0; len(in.in) > 0 && n < maxMessages; n++ {
		kind, flags := in.byte()%msgTypes, in.byte()
		payload := in.message(kind, 0)
		stream := flags&0x80 != 0
		switch flags >> 5 & 3 {
		case 0, 1: // most of them, because the rest is refused
			payload = seal(key, payload, stream)
			trusted = true
		case 2:
			payload = seal(other, payload, stream)
		}
		if stream {
			wire.stream(t, accepted, payload)
		} else {
			wire.packet(g, payload)
		}
		if flags&1 == 1 {
			time.Sleep(time.Second)
		}
	}
	time.Sleep(time.Minute) // suspects become dead, exchanges time out
	synctest.Wait()
	if self := list.LocalNode(); self.State != memberlist.StateAlive || !bytes.Equal(self.Meta, g.self.Load().encoded) {
		t.Errorf("the node says of itself that it is %v, %s", self.State, self.Meta)
	}
	for _, m := range g.table.members() {
		if m.Name == "" || m.NodeID == "" || m.PeerAddr == "" || m.Cluster == "other" || m.Name == nameTaken {
			t.Errorf("a member that should have been refused: %+v", m)
		}
	}
	if !trusted && (list.NumMembers() != 1 || len(g.table.members()) != 0 || len(g.refused) != 0) {
		t.Errorf("without the key the members became %v", list.Members())
	}
	minutes := 1 + int(time.Since(start)/time.Minute)
	// A line may have another one before it, of how many were left out.
	if allowed := maxLogBurst + int(2*60*maxLogRate+2)*minutes; !trusted && out.lines > allowed {
		t.Errorf("%d lines were logged in %d minutes, want at most %d", out.lines, minutes, allowed)
	}
	if err := list.Shutdown(); err != nil {
		t.Error(err)
	}
	stopStreams()
	cancel()
	if err := <-logged; err != nil {
		t.Error(err)
	}
	if streams.total != 0 || len(streams.byAddress) != 0 {
		t.Errorf("%d streams stay counted, by host %v", streams.total, streams.byAddress)
	}
}

// messages is the input of FuzzMessages. What is missing at its end is zero.
type messages struct{ in []byte }

func (m *messages) byte() byte {
	if len(m.in) == 0 {
		return 0
	}
	b := m.in[0]
	m.in = m.in[1:]
	return b
}

func (m *messages) bytes() []byte {
	n := min(int(m.byte()), len(m.in))
	b := m.in[:n]
	m.in = m.in[n:]
	return b
}

// name returns the name of a node: mostly well formed, sometimes this node's own.
func (m *messages) name() string {
	switch n := m.byte(); n % 8 {
	case 0:
		return "self/id-self/5-x"
	case 7:
		return string(m.bytes())
	default:
		return fmt.Sprintf("n%d/id-n%d/%d-y", n%8, n%8, n/8%4)
	}
}

// meta returns what a node says of itself.
func (m *messages) meta() []byte {
	n := m.byte()
	meta := Meta{
		Name: fmt.Sprint("n", n%8), NodeID: fmt.Sprint("id-n", n%8), Start: uint64(n / 8 % 4), Nonce: "y",
		PeerAddr: "192.0.2.2:1", Cluster: []string{"c", "", "other"}[n/32%3], Member: n >= 128,
	}
	switch n % 8 {
	case 0:
		meta.Name, meta.NodeID = "self", "id-self"
	case 6:
		meta.PeerAddr = ""
	case 7:
		return m.bytes()
	}
	encoded, err := meta.encode()
	if err != nil {
		return nil
	}
	return encoded
}

// The fields of memberlist's messages, by which they are encoded.
type (
	fields = map[string]any
	number = uint32
)

// message returns a message of a type. Those that hold others nest at most three deep.
func (m *messages) message(kind byte, depth int) []byte {
	const maxDepth = 3
	if depth == maxDepth && (kind == msgCompound || kind == msgCompressed || kind == msgWithCRC) {
		kind = msgUser
	}
	switch kind {
	case msgPing, msgIndirectPing:
		return packed(kind, fields{
			"SeqNo": number(m.byte()), "Node": m.name(), "Target": m.bytes(), "Port": 7946, "Nack": true,
			"SourceAddr": []byte{192, 0, 2, 3}, "SourcePort": 7946, "SourceNode": m.name(),
		})
	case msgAck, msgNack:
		return packed(kind, fields{"SeqNo": number(m.byte()), "Payload": m.bytes()})
	case msgSuspect, msgDead:
		return packed(kind, fields{"Incarnation": number(m.byte()), "Node": m.name(), "From": m.name()})
	case msgAlive:
		return packed(kind, m.node())
	case msgPushPull:
		return m.pushPull()
	case msgCompound:
		parts := int(m.byte()) % 5
		inner := make([][]byte, parts)
		compound := []byte{msgCompound, byte(parts)}
		for i := range inner {
			inner[i] = m.message(m.byte()%msgTypes, depth+1)
			compound = binary.BigEndian.AppendUint16(compound, uint16(len(inner[i])))
		}
		return append(compound, bytes.Join(inner, nil)...)
	case msgCompressed:
		var b bytes.Buffer
		w := lzw.NewWriter(&b, lzw.LSB, 8)
		_, _ = w.Write(m.message(m.byte()%msgTypes, depth+1)) // to a buffer
		_ = w.Close()
		return packed(kind, fields{"Algo": 0, "Buf": b.Bytes()})
	case msgWithCRC:
		inner := m.message(m.byte()%msgTypes, depth+1)
		return append([]byte{msgWithCRC, m.byte(), m.byte(), m.byte(), m.byte()}, inner...)
	case msgError:
		return packed(kind, fields{"Error": string(m.bytes())})
	default:
		return append([]byte{kind}, m.bytes()...)
	}
}

// node returns an alive message, or a state in an exchange of states.
func (m *messages) node() fields {
	name := m.name()
	return fields{
		"Incarnation": number(m.byte()), "Node": name, "Name": name, "Addr": []byte{192, 0, 2, m.byte()}, "Port": 7946,
		"Meta": m.meta(), "State": m.byte() % 6, "Vsn": []byte{1, 5, m.byte() % 8, 0, 0, 0},
	}
}

// pushPull returns an exchange of states, whose header may be wrong.
func (m *messages) pushPull() []byte {
	nodes := int(m.byte()) % 4
	user := m.bytes()
	if m.byte()%2 == 0 {
		user = []byte(`{"cluster":"c","roster":{"bindings":{"n1":{"nodeID":"id-n1","index":1}},"removed":["id-n2"]}}`)
	}
	claimed := nodes
	if m.byte() > 200 {
		claimed = int(m.byte()) << (m.byte() % 48)
	}
	out := packed(msgPushPull, fields{"Nodes": claimed, "UserStateLen": len(user), "Join": m.byte()%2 == 0})
	for range nodes {
		out = append(out, packed(0, m.node())[1:]...)
	}
	return append(out, user...)
}

// packed encodes a message as memberlist does.
func packed(kind byte, fields fields) []byte {
	out := bytes.NewBuffer([]byte{kind})
	if err := codec.NewEncoder(out, &codec.MsgpackHandle{}).Encode(fields); err != nil {
		panic(err) // of these types, none can fail
	}
	return out.Bytes()
}

// seal encrypts a message as memberlist does: in a stream, with a header that is authenticated.
func seal(key, message []byte, stream bool) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the keys have the right length
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the right block size
	}
	const version = 1
	nonce := make([]byte, gcm.NonceSize())
	var header []byte
	if stream {
		header = binary.BigEndian.AppendUint32([]byte{msgEncrypted}, uint32(1+len(nonce)+len(message)+gcm.Overhead()))
	}
	out := append(bytes.Clone(header), version)
	return gcm.Seal(append(out, nonce...), nonce, message, header)
}

// memoryTransport is a transport whose packets and connections come from the fuzzer, and to which
// nobody answers.
type memoryTransport struct {
	packets chan *memberlist.Packet
	streams <-chan net.Conn
}

func (*memoryTransport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.IPv4(192, 0, 2, 1), 7946, nil
}

func (*memoryTransport) WriteTo([]byte, string) (time.Time, error) { return time.Now(), nil }

func (w *memoryTransport) PacketCh() <-chan *memberlist.Packet { return w.packets }

func (w *memoryTransport) StreamCh() <-chan net.Conn { return w.streams }

func (*memoryTransport) DialTimeout(string, time.Duration) (net.Conn, error) {
	return nil, errors.New("nobody is there")
}

func (*memoryTransport) Shutdown() error { return nil }

// packet sends a packet, unless it is of another key, as transport.checkPackets does.
func (w *memoryTransport) packet(g *Gossip, payload []byte) {
	from := &net.UDPAddr{IP: net.IPv4(192, 0, 2, 9), Port: 7946}
	if g.key.check(payload, nil) == errOtherKey {
		g.reportOtherKey(from)
		return
	}
	w.packets <- &memberlist.Packet{Buf: payload, From: from, Timestamp: time.Now()}
}

// stream sends a message over a connection of its own, reads what is answered and ends it.
func (*memoryTransport) stream(t *testing.T, accepted chan<- net.Conn, payload []byte) {
	t.Helper()
	ours, theirs := net.Pipe()
	accepted <- ours
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(io.Discard, theirs) // until the node closes it
	}()
	_, _ = theirs.Write(payload) // the node may close it before it has read all
	time.Sleep(10 * time.Millisecond)
	_ = theirs.Close()
	<-answered
}

// nameTaken is a name that belongs to a node which no message is of.
const nameTaken = "n5"

// freeNames is a roster in which all other names are free.
type freeNames struct{}

func (freeNames) Admit(name, nodeID string) error {
	if name == nameTaken {
		return &roster.NameTaken{Name: name, Owner: "id-of-another", Claims: nodeID}
	}
	return nil
}

func (freeNames) Record() roster.Record { return roster.Record{Removed: []string{"id-n4"}} }

func (freeNames) Merge(roster.Record) error { return nil }

// countLines counts the lines of a log.
type countLines struct{ lines int }

func (c *countLines) Write(p []byte) (int, error) {
	c.lines++ // writers of a slog.Handler take turns
	return len(p), nil
}
