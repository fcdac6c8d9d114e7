package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/s2"
)

// podLike returns content that compresses about as well as API objects do.
func podLike(bytesWanted int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := 0; b.Len() < bytesWanted; i++ {
		fmt.Fprintf(&b, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-%d","namespace":"default","uid":"%016x-%016x"},"spec":{"containers":[`,
			i, random.Uint64(), random.Uint64())
		for c := range 6 {
			fmt.Fprintf(&b, `{"name":"c%d","image":"registry.example.com/app/%08x@sha256:%016x%016x","imagePullPolicy":"IfNotPresent","env":[`,
				c, random.Uint32(), random.Uint64(), random.Uint64())
			for e := range 10 {
				fmt.Fprintf(&b, `{"name":"VAR_%d","value":"%016x"},`, e, random.Uint64())
			}
			b.WriteString(`],"resources":{"limits":{"cpu":"100m","memory":"128Mi"}},"terminationMessagePath":"/dev/termination-log"},`)
		}
		b.WriteString(`],"restartPolicy":"Always","dnsPolicy":"ClusterFirst"},"status":{"phase":"Running"}}`)
	}
	return b.Bytes()[:bytesWanted]
}

func compressed(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 7000)
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStream(t *testing.T) {
	for _, size := range []int{0, 1, 100, 1 << 20, 1<<20 + 1, 5_000_000} {
		content := podLike(size)
		b := compressed(t, content)
		for name, r := range map[string]io.Reader{
			"seekable": bytes.NewReader(b), "plain": bytes.NewBuffer(b), "in halves": iotest.HalfReader(bytes.NewReader(b)),
		} {
			got, err := io.ReadAll(NewReader(r))
			if err != nil || !bytes.Equal(got, content) {
				t.Fatalf("%d bytes, %s: got %d, %v", size, name, len(got), err)
			}
		}
		if size > 1000 && len(b) > size*6/10 {
			t.Errorf("%d bytes compressed to %d", size, len(b))
		}
	}
}

func wantStreamError(t *testing.T, b []byte, what string) {
	t.Helper()
	_, err := io.ReadAll(NewReader(bytes.NewReader(b)))
	var c *Corrupt
	if !errors.As(err, &c) || !strings.Contains(err.Error(), what) {
		t.Fatalf("%s: error %v is not Corrupt", what, err)
	}
	r := NewReader(bytes.NewReader(b))
	_, first := io.Copy(io.Discard, r)
	if _, again := r.Read(make([]byte, 1)); !errors.Is(again, first) {
		t.Fatalf("reading on after %v gives %v", first, again)
	}
}

func TestStreamCutShortAnywhereIsFound(t *testing.T) {
	small := compressed(t, podLike(800))
	for n := range small {
		wantStreamError(t, small[:n], "is")
	}
	large := compressed(t, podLike(4_000_000)) // several blocks; also truncated between any two of them
	for at := len(magic) + len("\xff\x06\x00\x00S2sTwO"); at < len(large); {
		wantStreamError(t, large[:at], "cut short")
		wantStreamError(t, large[:at+2], "is")
		at += 4 + int(large[at+1]) + int(large[at+2])<<8 + int(large[at+3])<<16
	}
}

func TestStreamWithAFlippedBitIsFound(t *testing.T) {
	content := podLike(300)
	b := compressed(t, content)
	for i := range len(b) * 8 {
		b[i/8] ^= 1 << (i % 8)
		got, err := io.ReadAll(NewReader(bytes.NewReader(b)))
		if c := new(Corrupt); err == nil && !bytes.Equal(got, content) || err != nil && !errors.As(err, &c) {
			t.Errorf("bit %d of byte %d: %d bytes, %v", i%8, i/8, len(got), err)
		}
		b[i/8] ^= 1 << (i % 8)
	}
}

func TestStreamRefusesOtherFormats(t *testing.T) {
	whole := compressed(t, podLike(100))
	var bare bytes.Buffer
	w := s2.NewWriter(&bare)
	_, err := w.Write(podLike(100))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string][]byte{
		"is cut short":              nil,
		"is not a snapshot":         podLike(100),
		"has format 9":              append([]byte("quorate\x09"), whole[len(magic):]...),
		"goes on after its end":     append(whole[:len(whole):len(whole)], bare.Bytes()...),
		"is damaged":                append(whole[:len(whole):len(whole)], whole...),
		"snapshot is not a snapsho": bare.Bytes(),
	} {
		wantStreamError(t, b, want)
	}
}

func TestStreamReturnsErrorsOfReaderAndWriter(t *testing.T) {
	down := errors.New("down")
	whole := compressed(t, podLike(100_000))
	for _, n := range []int{0, 3, len(magic), 100, len(whole) - 1} {
		r := NewReader(io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(down)))
		if _, err := io.ReadAll(r); !errors.Is(err, down) {
			t.Errorf("reader fails after %d bytes: %v", n, err)
		}
	}
	for n := 0; n < len(whole); n += 1000 {
		w := NewWriter(&failing{after: n, err: down})
		_, err := w.Write(podLike(100_000))
		if err = errors.Join(err, w.Close()); !errors.Is(err, down) {
			t.Errorf("writer fails after %d bytes: %v", n, err)
		}
	}
}

type failing struct {
	after int
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.after {
		return 0, f.err
	}
	f.after -= len(p)
	return len(p), nil
}

func FuzzReader(f *testing.F) {
	f.Add(compressed(f, podLike(200)))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := io.Copy(io.Discard, NewReader(bytes.NewReader(b)))
		if c := new(Corrupt); err != nil && !errors.As(err, &c) {
			t.Fatal(err)
		}
	})
}

const benchBytes = 128 << 20

func BenchmarkWriter(b *testing.B) {
	content := podLike(benchBytes)
	b.SetBytes(benchBytes)
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(io.Discard)
		for rest := content; len(rest) > 0; rest = rest[min(len(rest), 7000):] {
			if _, err := w.Write(rest[:min(len(rest), 7000)]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRestore opens a snapshot, with and without verification, and reads it to the end.
func BenchmarkRestore(b *testing.B) {
	s := open(b, b.TempDir())
	id := write(b, s, 1, 1, podLike(benchBytes))
	for _, verified := range []bool{false, true} {
		b.Run(fmt.Sprintf("verified=%v", verified), func(b *testing.B) {
			b.SetBytes(benchBytes)
			for b.Loop() {
				if !verified {
					s.verified = fileVersion{}
				}
				_, r, err := s.Open(id)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, NewReader(r)); err != nil || n != benchBytes {
					b.Fatal(n, err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
