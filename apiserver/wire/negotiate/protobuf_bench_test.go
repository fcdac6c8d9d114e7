package negotiate_test

import (
	"testing"

	"quorate/apiserver/wire/negotiate"
)

// BenchmarkListInProtobuf writes 10,000 objects of 1 KiB.
func BenchmarkListInProtobuf(b *testing.B) {
	k := configMaps(b)
	values := stored(b, k, 10_000, 1<<10)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		l := &negotiate.List{Form: negotiate.Protobuf, Kind: k.ListKind, APIVersion: k.APIVersion, Item: k, Metadata: []byte(listMetadata)}
		for _, v := range values {
			if err := l.Measure(v); err != nil {
				b.Fatal(err)
			}
		}
		out, err := l.AppendHead(out[:0])
		for piece := range l.Pieces() {
			out = append(out[:0], piece...)
		}
		for _, v := range values[l.Kept():] {
			if err == nil {
				out, err = l.AppendItem(out[:0], v, k.ListPrefix())
			}
		}
		if err == nil {
			_, err = l.AppendTail(out[:0])
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(values)), "µs/item")
}

// BenchmarkObjectInProtobuf writes one object of 1 KiB, as a GET and a watch event do.
func BenchmarkObjectInProtobuf(b *testing.B) {
	k := configMaps(b)
	value := stored(b, k, 1, 1<<10)[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := negotiate.AppendProtobuf(nil, value, k); err != nil {
			b.Fatal(err)
		}
	}
}
