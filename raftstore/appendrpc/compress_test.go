package appendrpc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/klauspost/compress/s2"
)

// written counts the bytes written to a connection.
type written struct {
	net.Conn
	bytes int
}

func (w *written) Write(b []byte) (int, error) {
	w.bytes += len(b)
	return w.Conn.Write(b)
}

// text returns bytes like those of objects, in which names and keys repeat.
func text(r *rand.Rand, size int) []byte {
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings-%d","namespace":"team-%d"}},`, r.Uint32(), r.IntN(5))
	}
	return b.Bytes()[:size]
}

func noise(r *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Frames of all sizes arrive as they were sent, on one connection, and the large ones of which
// compression saves enough take fewer bytes.
func TestCompression(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	near, far := net.Pipe()
	out := &written{Conn: near}
	from, to := newFramed(out), newFramed(far)
	defer near.Close()
	for _, c := range []struct {
		name    string
		content []byte
		most    float64 // part of the content that the frame takes
	}{
		{"short", text(r, 100), 1},
		{"large", text(r, 8*compressBytes), 0.7},
		{"just large enough", text(r, compressBytes), 0.7},
		{"noise", noise(r, compressBytes), 1},
		{"just below", text(r, compressBytes-1), 1},
		{"noise that is not kept in a buffer", noise(r, 2*maxSpareBytes), 1},
		{"not kept in a buffer", text(r, 2*maxSpareBytes), 0.7},
		{"short again", text(r, 10), 1},
		{"saves too little", append(noise(r, 15*compressBytes), text(r, compressBytes)...), 1},
		{"the largest", text(r, maxFrameBytes), 0.7},
		{"empty", nil, 1},
	} {
		var sending sync.WaitGroup
		before := out.bytes
		sending.Go(func() {
			if err := from.write(time.Minute, func(b []byte) []byte { return append(b, c.content...) }); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		})
		got, err := to.read()
		if err != nil || !bytes.Equal(got, c.content) {
			t.Fatalf("%s: %d bytes arrived of %d, %v", c.name, len(got), len(c.content), err)
		}
		sending.Wait()
		frame := out.bytes - before - lengthBytes
		if float64(frame) > c.most*float64(len(c.content)) || c.most == 1 && frame != len(c.content) {
			t.Errorf("%s: the frame of %d bytes has %d", c.name, len(c.content), frame)
		}
	}
}

// What a peer sends as compressed takes no more memory than a request may.
func TestCompressedFramesThatAreRefused(t *testing.T) {
	frame := func(content []byte) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(content))|compressedFlag), content...)
	}
	damaged := s2.Encode(nil, text(rand.New(rand.NewPCG(1, 1)), 10_000))
	damaged[len(damaged)/2] ^= 0x10
	for name, c := range map[string]struct {
		content  []byte
		tooLarge int64
	}{
		"expands too far":    {s2.Encode(nil, make([]byte, maxFrameBytes+1)), 1},
		"says that it would": {binary.AppendUvarint(nil, 1<<31), 1},
		"not compressed":     {bytes.Repeat([]byte{0xff}, 20), 0},
		"cut short":          {s2.Encode(nil, make([]byte, 1000))[:5], 0},
		"no request":         {s2.Encode(nil, []byte("abc")), 0},
		"damaged":            {damaged, 0},
		"empty":              {nil, 0},
	} {
		t.Run(name, func(t *testing.T) { wantRefusal(t, frame(c.content), c.tooLarge) })
	}
}

// BenchmarkCompression measures what a request costs with its compression, at both
// ends, and how many of its bytes are left.
func BenchmarkCompression(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, content := range map[string][]byte{"1 KiB": text(r, 1<<10), "2 KiB": text(r, 2<<10), "16 KiB": text(r, 16<<10), "noise": noise(r, 16<<10)} {
		b.Run(name, func(b *testing.B) {
			req := &raft.AppendEntriesRequest{Entries: []*raft.Log{{Index: 1, Data: content}}}
			from, to := newFramed(nil), newFramed(nil)
			size := 0
			for b.Loop() {
				plain := appendRequest(from.out[:0], req)
				from.out = plain
				packed, ok := from.compress(plain)
				if !ok {
					size = len(plain)
					continue
				}
				size = len(packed)
				if _, err := to.decompress(packed[lengthBytes:]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size)/float64(len(content)), "left/byte")
		})
	}
}
