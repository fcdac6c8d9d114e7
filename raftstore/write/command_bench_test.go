package write

import (
	"bytes"
	"fmt"
	"testing"

	"quorate/raftstore/state"
)

// BenchmarkCommand measures the cost of a write before it is proposed: encode on the node that
// receives the request, and decode on a leader to which another node forwards it.
func BenchmarkCommand(b *testing.B) {
	for _, size := range []int{1 << 10, 7 << 10, 256 << 10} {
		update := Update{
			Key:      state.NewKey("pods", "default", "web-0"),
			Object:   &state.Object{Value: bytes.Repeat([]byte("x"), size), UID: fmt.Sprintf("%036d", 1), Labels: "app\x00web\x00"},
			Previous: &state.Object{Version: 7, Labels: "app\x00web\x00"},
			UID:      fmt.Sprintf("%036d", 1),
		}
		b.Run(fmt.Sprintf("encode/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := update.command(); err != nil {
					b.Fatal(err)
				}
			}
		})
		c, err := update.command()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("decode/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decode(c.data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
