package h2

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// program is the input of FuzzFrames, read as the actions of a client. What is missing at its end
// is zero.
type program struct{ left []byte }

func (p *program) byte() byte {
	if len(p.left) == 0 {
		return 0
	}
	b := p.left[0]
	p.left = p.left[1:]
	return b
}

func (p *program) bytes(n int) []byte {
	b := p.left[:min(n, len(p.left))]
	p.left = p.left[len(b):]
	return b
}

// pick returns one of the choices.
func pick[T any](p *program, choices ...T) T { return choices[int(p.byte())%len(choices)] }

// The actions of a program, by their bytes.
const (
	actRequest = iota
	actData
	actWindow
	actSettings
	actReset
	actPing
	actGoAway
	actPriority
	actTrailers
	actRaw
	actSettle
	actSleep
	actStopReading
	actGoOnReading
	actDrain
	actRepeat
	actions
)

// maxProgram bounds the frames of one input, repetitions included.
const maxProgram = 3000

// FuzzFrames simulates a client that sends arbitrary frames, reads or does not read, and lets time
// pass, in a synctest bubble. An input fails if a goroutine remains or blocks forever, or if judge
// finds an error in what the server sends.
func FuzzFrames(f *testing.F) {
	const end = 1 // of the flags of actRequest, actData and actTrailers
	f.Add([]byte{actRequest, end, 0, actSettle})
	f.Add([]byte{actRequest, 0, 1, actData, 0, 3, 0, actSettle, actData, 0, 4, end, actSettle})
	f.Add([]byte{actSettings, 1, 0, actRequest, end, 2, actSettle, actWindow, 1, 2, actSettle, actWindow, 0, 4})
	f.Add([]byte{actRequest, 0, 3, actData, 0, 4, 0, actData, 0, 5, 0, actSettle, actTrailers, 0, end})
	f.Add([]byte{actRequest, 0, 3, actRepeat, 1, actData, 0, 4, 0, actSettle})
	f.Add([]byte{actRequest, 0, 4, actRepeat, 2, actData, 0, 4, 0, actSettle}) // over the stream's window
	f.Add([]byte{actSettings, 4, 0, 0, actRequest, end, 2, actSettle})         // over the connection's
	f.Add([]byte{actStopReading, actRequest, end, 2, actSleep, 4, actGoOnReading, actSettle})
	f.Add([]byte{actRepeat, 200, actRequest, end, 4, actReset, 0, 1, actRepeat, 200, actPing, 1})
	f.Add([]byte{actRequest, 0, 5, actDrain, actSettle, actPing, 2, actReset, 0, 2, actSettle})
	f.Add([]byte{actRequest, 6, 1, actRaw, 9, 4, 1, 3, 'a', 'b', 'c', actGoAway, actPriority, 1, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		synctest.Test(t, func(t *testing.T) { play(t, &program{left: in}) })
	})
}

// play runs a program against a connection, and returns after the connection has ended.
func play(t *testing.T, p *program) {
	j := newJudge(t)
	ours, theirs := net.Pipe()
	c := &fuzzClient{judge: j, nc: theirs}
	c.fr = http2.NewFramer(&c.out, nil)
	c.fr.AllowIllegalWrites = true
	c.enc = hpack.NewEncoder(&c.block)
	done := make(chan struct{})
	j.serve(ours, done)
	go j.read(theirs)
	c.send([]byte(http2.ClientPreface))
	c.frame(func() error { return c.fr.WriteSettings() })
	repeat := 1
	for sent := 0; len(p.left) > 0 && sent < maxProgram && !c.closed; {
		act := int(p.byte()) % actions
		if act == actRepeat {
			repeat = 1 + int(p.byte())
			continue
		}
		rest := p.left
		for range repeat {
			p.left = rest
			c.act(act, p)
			sent++
		}
		repeat = 1
	}
	j.settle(c)
	_ = theirs.Close()
	<-done
	j.ended()
}

// fuzzClient writes the frames of a program and keeps account of what they allow the server.
type fuzzClient struct {
	*judge
	nc     net.Conn
	out    bytes.Buffer // of fr
	fr     *http2.Framer
	block  bytes.Buffer // of enc
	enc    *hpack.Encoder
	ids    []uint32
	nextID uint32
	closed bool // by the server
}

// send writes bytes. The server reads whatever happens, or closes the connection.
func (c *fuzzClient) send(b []byte) {
	if _, err := c.nc.Write(b); err != nil {
		c.closed = true
	}
}

// frame sends what write gives to the framer, unless the framer refuses it.
func (c *fuzzClient) frame(write func() error) {
	c.out.Reset()
	if write() == nil {
		c.send(c.out.Bytes())
	}
}

// id returns the id of a stream: one of the last eight opened, or one that is not open.
func (c *fuzzClient) id(p *program) uint32 {
	n := int(p.byte()) % 16
	if n < 8 && n < len(c.ids) {
		return c.ids[len(c.ids)-1-n]
	}
	return uint32(n)
}

func (c *fuzzClient) act(act int, p *program) {
	switch act {
	case actRequest:
		c.request(p)
	case actData:
		id, n, flags := c.id(p), pick(p, 0, 1, 100, 1000, 16384, 16385), p.byte()
		pad := make([]byte, int(flags>>1)%3*60)
		length := n
		if len(pad) > 0 {
			length += 1 + len(pad)
		}
		c.sentData(id, length)
		c.frame(func() error {
			if len(pad) > 0 {
				return c.fr.WriteDataPadded(id, flags&1 == 1, make([]byte, n), pad)
			}
			return c.fr.WriteData(id, flags&1 == 1, make([]byte, n))
		})
	case actWindow:
		id, more := c.id(p), pick[uint32](p, 0, 1, 1000, firstWindow, 1<<20, maxWindow)
		c.granted(id, more)
		c.frame(func() error { return c.fr.WriteWindowUpdate(id, more) })
	case actSettings:
		c.settings(p)
	case actReset:
		id, code := c.id(p), http2.ErrCode(p.byte())
		c.frame(func() error { return c.fr.WriteRSTStream(id, code) })
	case actPing:
		kind := p.byte()
		data := pick(&program{left: []byte{kind}}, [8]byte{}, drainPing(), alivePing())
		c.frame(func() error { return c.fr.WritePing(kind&4 != 0 || data == drainPing(), data) })
	case actGoAway:
		c.frame(func() error { return c.fr.WriteGoAway(0, http2.ErrCodeNo, nil) })
	case actPriority:
		id, on := c.id(p), c.id(p)
		c.frame(func() error { return c.fr.WritePriority(id, http2.PriorityParam{StreamDep: on}) })
	case actTrailers:
		id, flags := c.id(p), p.byte()
		c.headers(id, flags&1 == 1, false, []hpack.HeaderField{{Name: pick(p, "trailer", "Bad", ":path"), Value: "x"}})
	case actRaw:
		c.raw(p)
	case actSettle:
		c.check()
	case actSleep:
		time.Sleep(pick(p, time.Millisecond, time.Second, 6*time.Second, 31*time.Second, 61*time.Second))
	case actStopReading:
		c.pause(true)
	case actGoOnReading:
		c.pause(false)
	case actDrain:
		c.server.shutdown()
	}
}

// request opens a stream. The program chooses its path, and what may be odd about its header.
func (c *fuzzClient) request(p *program) {
	flags, path := p.byte(), fuzzPaths[int(p.byte())%len(fuzzPaths)]
	c.nextID += 2
	id := c.nextID - 1
	if len(c.ids) < 2*maxProgram {
		c.ids = append(c.ids, id)
	}
	fields := []hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "example.com"},
		{Name: ":path", Value: path},
	}
	switch flags >> 4 {
	case 1:
		fields = append(fields, hpack.HeaderField{Name: "content-length", Value: "100"})
	case 2:
		fields = append(fields, hpack.HeaderField{Name: "expect", Value: "100-continue"})
	case 3:
		fields = append(fields, hpack.HeaderField{Name: "x", Value: strings.Repeat("v", 5000)}) // too long
	case 4:
		fields = fields[1:]
	case 5:
		fields = append(fields, hpack.HeaderField{Name: "Upper", Value: "x"})
	case 6:
		c.enc.SetMaxDynamicTableSize(uint32(p.byte()))
	}
	c.headers(id, flags&1 == 1, flags&2 != 0, fields)
}

// headers sends a header block, in two frames if split.
func (c *fuzzClient) headers(id uint32, end, split bool, fields []hpack.HeaderField) {
	c.opened(id)
	c.block.Reset()
	for _, f := range fields {
		_ = c.enc.WriteField(f) // to a buffer
	}
	block := bytes.Clone(c.block.Bytes())
	first, rest := block, []byte(nil)
	if split {
		first, rest = block[:len(block)/2], block[len(block)/2:]
	}
	c.frame(func() error {
		return c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndHeaders: !split, EndStream: end})
	})
	if split {
		c.frame(func() error { return c.fr.WriteContinuation(id, true, rest) })
	}
}

func (c *fuzzClient) settings(p *program) {
	window := pick[uint32](p, firstWindow, 0, 1, 100_000, maxWindow, maxWindow+1)
	other := http2.Setting{ID: http2.SettingID(p.byte() % 10), Val: pick[uint32](p, 16384, 0, 1, 1<<24)}
	if other.ID == http2.SettingInitialWindowSize {
		other.ID = http2.SettingMaxFrameSize
	}
	c.allowed(window)
	c.frame(func() error {
		return c.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}, other)
	})
}

// raw sends a frame of any type, flags and payload.
func (c *fuzzClient) raw(p *program) {
	kind, flags, id, n := http2.FrameType(p.byte()%12), p.byte(), c.id(p), int(p.byte())
	payload := p.bytes(n)
	switch kind { // these are accounted by their own actions
	case http2.FrameData, http2.FrameSettings, http2.FrameWindowUpdate:
		kind = 11
	case http2.FrameHeaders:
		c.opened(id)
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	header = append(header, flags)
	c.send(append(binary.BigEndian.AppendUint32(header, id), payload...))
}

// fuzzPaths are what the handlers of FuzzFrames do.
var fuzzPaths = []string{"/echo", "/read", "/large", "/ignore", "/wait", "/abort", "/flush", "/full"}

// fuzzHandler answers the requests of FuzzFrames.
func fuzzHandler(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	switch r.URL.Path {
	case "/echo":
		_, _ = io.Copy(w, r.Body) // errors are the client's doing, here and below
	case "/read":
		_, _ = io.Copy(io.Discard, r.Body)
	case "/large":
		_, _ = w.Write(make([]byte, 300_000))
	case "/wait":
		<-r.Context().Done()
	case "/abort":
		panic(http.ErrAbortHandler)
	case "/flush":
		for range 5 {
			_, _ = w.Write(make([]byte, 1000))
			_ = control.Flush()
			time.Sleep(time.Second)
		}
	case "/full":
		_ = control.EnableFullDuplex()
		_ = control.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_ = control.SetReadDeadline(time.Now().Add(3 * time.Second))
		buf := make([]byte, 64)
		for {
			n, err := r.Body.Read(buf)
			_, _ = w.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}
}
