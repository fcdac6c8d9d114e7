package h2

import (
	"encoding/binary"

	"golang.org/x/net/http2"
)

// noTable is the HPACK instruction that sets the size of the dynamic table to 0 (RFC 7541 §6.3).
const noTable = 0x20

func appendFrameHeader(b []byte, length int, kind http2.FrameType, flags http2.Flags, id uint32) []byte {
	return append(b, byte(length>>16), byte(length>>8), byte(length), byte(kind), byte(flags),
		byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}

func appendData(b []byte, id uint32, data []byte, end bool) []byte {
	var flags http2.Flags
	if end {
		flags = http2.FlagDataEndStream
	}
	b = appendFrameHeader(b, len(data), http2.FrameData, flags, id)
	return append(b, data...)
}

// appendHeaders appends a header block as a HEADERS frame and as many CONTINUATION frames as it
// needs.
func appendHeaders(b []byte, id uint32, block []byte, end bool, maxFrame int) []byte {
	kind, flags := http2.FrameHeaders, http2.Flags(0)
	if end {
		flags = http2.FlagHeadersEndStream
	}
	for len(block) > maxFrame {
		b = appendFrameHeader(b, maxFrame, kind, flags, id)
		b = append(b, block[:maxFrame]...)
		block, kind, flags = block[maxFrame:], http2.FrameContinuation, 0
	}
	b = appendFrameHeader(b, len(block), kind, flags|http2.FlagHeadersEndHeaders, id)
	return append(b, block...)
}

func appendSettings(b []byte, settings ...http2.Setting) []byte {
	b = appendFrameHeader(b, 6*len(settings), http2.FrameSettings, 0, 0)
	for _, s := range settings {
		b = binary.BigEndian.AppendUint16(b, uint16(s.ID))
		b = binary.BigEndian.AppendUint32(b, s.Val)
	}
	return b
}

func appendSettingsAck(b []byte) []byte {
	return appendFrameHeader(b, 0, http2.FrameSettings, http2.FlagSettingsAck, 0)
}

func appendPing(b []byte, data [8]byte, ack bool) []byte {
	var flags http2.Flags
	if ack {
		flags = http2.FlagPingAck
	}
	b = appendFrameHeader(b, len(data), http2.FramePing, flags, 0)
	return append(b, data[:]...)
}

func appendReset(b []byte, id uint32, code http2.ErrCode) []byte {
	b = appendFrameHeader(b, 4, http2.FrameRSTStream, 0, id)
	return binary.BigEndian.AppendUint32(b, uint32(code))
}

func appendWindowUpdate(b []byte, id uint32, n int32) []byte {
	b = appendFrameHeader(b, 4, http2.FrameWindowUpdate, 0, id)
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

func appendGoAway(b []byte, last uint32, code http2.ErrCode) []byte {
	b = appendFrameHeader(b, 8, http2.FrameGoAway, 0, 0)
	b = binary.BigEndian.AppendUint32(b, last)
	return binary.BigEndian.AppendUint32(b, uint32(code))
}
