package schema

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// sized returns a length-delimited field.
func sized(number protowire.Number, content ...string) string {
	b := protowire.AppendTag(nil, number, protowire.BytesType)
	return string(protowire.AppendString(b, strings.Join(content, "")))
}

// varint returns a varint field.
func varint(number protowire.Number, n int64) string {
	return string(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(n)))
}

func TestDecodeProtobuf_B20(t *testing.T) {
	cat := engine(t)
	group := string(protowire.AppendTag(nil, 50, protowire.StartGroupType)) + sized(1, "x") + string(protowire.AppendTag(nil, 50, protowire.EndGroupType))
	fixed := string(protowire.AppendFixed32(protowire.AppendTag(nil, 51, protowire.Fixed32Type), 7)) +
		string(protowire.AppendFixed64(protowire.AppendTag(nil, 52, protowire.Fixed64Type), 7))
	for name, tc := range map[string]struct {
		plural string
		raw    string
		want   string // parts of the JSON
	}{
		"nothing":                  {"configmaps", "", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"creationTimestamp":null}}`},
		"unknown_fields_skipped":   {"configmaps", sized(1, sized(1, "a")) + group + fixed + varint(53, 1) + sized(54, "\xff"), `"metadata":{"name":"a",`},
		"last_scalar_counts":       {"configmaps", sized(1, sized(1, "a"), sized(1, "b")), `"name":"b"`},
		"zero_resets":              {"configmaps", sized(1, sized(1, "a"), sized(1, "")), `"metadata":{"creationTimestamp":null}`},
		"messages_merge":           {"configmaps", sized(1, sized(1, "a")) + sized(1, sized(3, "ns")), `"name":"a","namespace":"ns"`},
		"maps_sorted":              {"configmaps", sized(2, sized(1, "b"), sized(2, "2")) + sized(2, sized(1, "a"), sized(2, "1")), `"data":{"a":"1","b":"2"}`},
		"last_entry_counts":        {"configmaps", sized(2, sized(1, "a"), sized(2, "1")) + sized(1, "") + sized(2, sized(1, "a"), sized(2, "2")), `"data":{"a":"2"}`},
		"entry_without_value":      {"configmaps", sized(2, sized(1, "a")) + sized(2), `"data":{"":"","a":""}`},
		"value_before_key":         {"configmaps", sized(2, sized(2, "1"), sized(1, "a")), `"data":{"a":"1"}`},
		"lists_go_on":              {"configmaps", sized(1, sized(14, "a"), sized(1, "n"), sized(14, "b")), `"finalizers":["a","b"]`},
		"number_lists":             {"pods", sized(2, sized(14, varint(4, 1), varint(4, -2))), `"supplementalGroups":[1,-2]`},
		"packed_numbers":           {"pods", sized(2, sized(14, sized(4, "\x01\x02"), varint(4, 3))), `"supplementalGroups":[1,2,3]`},
		"unset_time":               {"configmaps", sized(1, sized(8)), `"creationTimestamp":null`},
		"zero_time":                {"configmaps", sized(1, sized(8, varint(1, time.Time{}.Unix()))), `"creationTimestamp":null`},
		"epoch":                    {"configmaps", sized(1, sized(8, varint(1, 0), varint(2, 0))), `"creationTimestamp":"1970-01-01T00:00:00Z"`},
		"nanoseconds_dropped":      {"configmaps", sized(1, sized(8, varint(1, 1), varint(2, 999))), `"creationTimestamp":"1970-01-01T00:00:01Z"`},
		"pointer_to_zero":          {"configmaps", sized(1, varint(10, 0)), `"deletionGracePeriodSeconds":0`},
		"pointer_to_empty_message": {"pods", sized(2, sized(1, sized(1, "v"), sized(2, sized(2)))), `{"name":"v","emptyDir":{}}`},
		"quantity_made_canonical":  {"nodes", sized(3, sized(1, sized(1, "cpu"), sized(2, sized(1, "0.5")))), `"capacity":{"cpu":"500m"}`},
		"int32_is_cut":             {"pods", sized(2, sized(2, sized(6, varint(3, 1<<32+7)))), `"containerPort":7`},
		"int_or_string_text":       {"pods", sized(2, sized(2, sized(10, sized(1, sized(3, sized(1, varint(1, 1), sized(3, "http"))))))), `"tcpSocket":{"port":"http"}`},
		"int_or_string_number":     {"pods", sized(2, sized(2, sized(10, sized(1, sized(3, sized(1, varint(2, 80))))))), `"tcpSocket":{"port":80}`},
	} {
		t.Run(name, func(t *testing.T) {
			o, _, err := cat.Kind("/api/v1", tc.plural).DecodeProtobuf([]byte(tc.raw))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(o.AppendJSON(nil)); !strings.Contains(got, tc.want) {
				t.Errorf("got %s\nwant %s in it", got, tc.want)
			}
		})
	}
}

func TestDecodeProtobufErrors_B20(t *testing.T) {
	cat := engine(t)
	deep := string(protowire.AppendTag(nil, 60, protowire.StartGroupType))
	for name, tc := range map[string]struct {
		plural, raw, want, path string
	}{
		"half_a_key":         {"configmaps", "\x80", "proto: unexpected end of data", ""},
		"half_a_field":       {"configmaps", "\x0a\x05\x0a", "proto: unexpected end of data", "metadata"},
		"endless_varint":     {"configmaps", strings.Repeat("\xff", 11), "longer than ten bytes", ""},
		"field_number_zero":  {"configmaps", "\x02\x00", "illegal field number 0", ""},
		"stray_end_of_group": {"configmaps", "\x0c", "wrong wire type 4", ""},
		"another_groups_end": {"configmaps", "\x7b\x0c", "wrong wire type 4", ""},
		"wire_type":          {"configmaps", varint(1, 1), "wrong wire type 0 for field 1", "metadata"},
		"utf8":               {"configmaps", sized(1, sized(1, "\xff")), "metadata.name: proto: a string holds invalid UTF-8", "metadata.name"},
		"utf8_of_a_key":      {"configmaps", sized(2, sized(1, "\xff")), "invalid UTF-8", "data"},
		"year":               {"configmaps", sized(1, sized(8, varint(1, lastSecond+1))), "year outside of range [0,9999]", "metadata.creationTimestamp"},
		"quantity":           {"nodes", sized(3, sized(1, sized(1, "cpu"), sized(2, sized(1, "x")))), "quantities must match", "status.capacity.cpu"},
		"int_or_string":      {"pods", sized(2, sized(2, sized(10, sized(1, sized(3, sized(1, varint(1, 2))))))), "impossible IntOrString.Type", "spec.containers[0].livenessProbe.tcpSocket.port"},
		"depth":              {"configmaps", strings.Repeat(deep, maxDepth+2), "exceeded max depth", ""},
		"slots":              {"pods", sized(2, strings.Repeat("\x12\x00", maxSlots/18)), "too many messages", ""},
		"packed_numbers":     {"pods", sized(2, sized(14, sized(4, strings.Repeat("\x01", maxSlots/packedSlots+1)))), "too many numbers", ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := cat.Kind("/api/v1", tc.plural)
			_, _, err := k.DecodeProtobuf([]byte(tc.raw))
			var refused *DecodeError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			if !strings.HasPrefix(refused.Message, k.Kind+` in version "v1" cannot be handled as a `+k.Kind+": ") ||
				!strings.Contains(refused.Message, tc.want) || tc.path != "" && refused.Path != tc.path {
				t.Errorf("got %q at %q", refused.Message, refused.Path)
			}
		})
	}
}

func TestImageMetadataIsJSON_B20(t *testing.T) {
	k := engine(t).Kind("/apis/image.platform.io/v1", "images")
	if _, _, err := k.DecodeProtobuf([]byte(sized(3, sized(1, "k8s\x00\x0a")))); err == nil || !strings.Contains(err.Error(), "containerImageMetadata: json parse error") {
		t.Error(err)
	}
	o, _, err := k.DecodeProtobuf([]byte(sized(3, sized(1, ` { "a" : 1 } `))))
	if err != nil || o.Field("containerImageMetadata").Str() != `{"a":1}` {
		t.Error(o.Field("containerImageMetadata"), err)
	}
}

// TestEnvelope_B20 compares the envelope with the bytes that Kubernetes writes.
func TestEnvelope_B20(t *testing.T) {
	want := "k8s\x00" + sized(1, sized(1, "v1"), sized(2, "Pod")) + sized(2, "raw") + sized(3) + sized(4)
	got := AppendEnvelope([]byte("x"), "v1", "Pod", []byte("raw"))
	if string(got) != "x"+want || EnvelopeSize("v1", "Pod", 3) != len(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, body := range map[string]string{
		"no_magic":      "k8s",
		"json":          "{}",
		"encoded":       "k8s\x00" + sized(2, "raw") + sized(3, "gzip"),
		"utf8":          "k8s\x00" + sized(1, sized(2, "\xff")),
		"broken":        "k8s\x00\x0a\x05",
		"broken_inside": "k8s\x00" + sized(1, "\x0a\x05"),
	} {
		var refused *DecodeError
		if _, _, _, err := CutEnvelope([]byte(body)); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	apiVersion, kind, raw, err := CutEnvelope([]byte("k8s\x00" + varint(9, 1) + sized(1, varint(7, 1), sized(2, "Pod")) + sized(4, "application/json")))
	if err != nil || apiVersion != "" || kind != "Pod" || raw != nil {
		t.Error(apiVersion, kind, raw, err)
	}
}

func TestProtobufOfMessages(t *testing.T) {
	cat := engine(t)
	t.Run("DeleteOptions_G1", func(t *testing.T) {
		m := cat.Message("DeleteOptions")
		v, _, err := m.DecodeProtobuf([]byte(varint(1, 0) + sized(2, sized(1, "u")) + sized(4, "Orphan") + sized(5, "All")))
		if err != nil || string(v.AppendJSON(nil)) != `{"gracePeriodSeconds":0,"preconditions":{"uid":"u"},"propagationPolicy":"Orphan","dryRun":["All"]}` {
			t.Errorf("%s %v", v.AppendJSON(nil), err)
		}
		if _, _, err := m.DecodeProtobuf([]byte("\x0a")); err == nil || !strings.HasPrefix(err.Error(), "couldn't read DeleteOptions: ") {
			t.Error(err)
		}
	})
	t.Run("Status_I32", func(t *testing.T) {
		v, _, err := cat.Message("Status").Decode([]byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","reason":"NotFound","details":{"name":"n","causes":[{"field":"f"}]},"code":404}`))
		if err != nil {
			t.Fatal(err)
		}
		want := sized(1, sized(1), sized(2)) + sized(2, "Failure") + sized(3, "m") + sized(4, "NotFound") +
			sized(5, sized(1, "n"), sized(2), sized(3), sized(4, sized(1), sized(2), sized(3, "f")), varint(5, 0), sized(6)) + varint(6, 404)
		if got := v.AppendProtobuf(nil); string(got) != want || v.ProtobufSize() != len(want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	t.Run("WatchEvent_D5", func(t *testing.T) {
		got := append(WatchEventHead(nil, "ADDED", 3), "raw"...)
		if want := sized(1, "ADDED") + sized(2, sized(1, "raw")); string(got) != want || WatchEventSize("ADDED", 3) != len(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("List_C1", func(t *testing.T) {
		remaining := int64(300)
		for _, meta := range []ListMeta{{ResourceVersion: "7"}, {SelfLink: "s", ResourceVersion: "7", Continue: "c", RemainingItemCount: &remaining}} {
			want := sized(1, sized(1), sized(2, "7"), sized(3))
			if meta.RemainingItemCount != nil {
				want = sized(1, sized(1, "s"), sized(2, "7"), sized(3, "c"), varint(4, 300))
			}
			got := AppendListHead(nil, meta)
			if string(got) != want || ListHeadSize(meta) != len(want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if item := append(AppendListItemHead(nil, 3), "raw"...); string(item) != sized(2, "raw") || ListItemSize(3) != len(item) {
				t.Errorf("got %q", item)
			}
		}
	})
}

// TestProtobufMapInManyPieces_B20 checks that decoding a map in very many pieces takes time in
// proportion to the size of the body.
func TestProtobufMapInManyPieces_B20(t *testing.T) {
	const pieces = 100_000
	var raw []byte
	for i := range pieces {
		raw = append(raw, sized(1, sized(12, sized(1, itoa(pieces-i)), sized(2, "v")))...)
	}
	o, _, err := engine(t).Kind("/api/v1", "configmaps").DecodeProtobuf(raw)
	if err != nil || o.Annotations().Len() != pieces || o.Annotations().Get("77").Str() != "v" {
		t.Error(o.Annotations().Len(), err)
	}
}

// TestProtobufAllocations limits allocations: encoding into a large enough buffer makes none, and
// decoding makes a few dozen chunks.
func TestProtobufAllocations(t *testing.T) {
	k := engine(t).Kind("/api/v1", "pods")
	stored := create(t, k, paddedPod()).Value
	o, err := k.DecodeStored(stored)
	if err != nil {
		t.Fatal(err)
	}
	dst := o.AppendProtobuf(nil)
	raw := bytes.Clone(dst)
	for name, tc := range map[string]struct {
		most float64
		run  func()
	}{
		"encode": {0, func() { o.AppendProtobuf(dst[:0]) }},
		"decode": {50, func() { _, _, _ = k.DecodeProtobuf(raw) }},
	} {
		if got := testing.AllocsPerRun(20, tc.run); got > tc.most {
			t.Errorf("%s: %v allocations, more than %v", name, got, tc.most)
		}
	}
}

func TestProtobufNumbersAreChecked(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, want string }{
		"twice":     {"{type: WidgetSpec, proto: 2}", "{type: WidgetSpec, proto: 1}", "two fields have the protobuf number 1"},
		"wire":      {"{type: WidgetSpec, proto: 2}", "{type: WidgetSpec, proto: 2, wire: varint}", "is encoded as bytes, not varint"},
		"reserved":  {"{type: WidgetSpec, proto: 2}", "{type: WidgetSpec, proto: 19000}", "19000 is not a valid field number"},
		"too_large": {"{type: WidgetSpec, proto: 2}", "{type: WidgetSpec, proto: 536870912}", "536870912 is not a valid field number"},
		"wrapper":   {"{type: WidgetSpec, proto: 2}", "{type: WidgetSpec, proto: 2, protoListWrapper: true}", "WidgetSpec is not a list"},
		"no_name":   {"{type: WidgetSpec, proto: 2}", "{type: WidgetSpec, proto: 2, protoWrap: 3}", "the message has no protoWrapper"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(small(t, strings.Replace(widget, tc.from, tc.to, 1)), nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	cat, err := load(small(t, widget), nil)
	if err != nil || cat.Kind("/apis/example.io/v1", "widgets").HasProtobuf() {
		t.Error(err, "B21: a kind with fields that have no numbers has protobuf")
	}
}

func BenchmarkProtobuf(b *testing.B) {
	k := engine(b).Kind("/api/v1", "pods")
	stored := create(b, k, paddedPod()).Value
	o, err := k.DecodeStored(stored)
	if err != nil {
		b.Fatal(err)
	}
	raw := o.AppendProtobuf(nil)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if _, _, err := k.DecodeProtobuf(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	dst := make([]byte, 0, 2*len(raw))
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			o.AppendProtobuf(dst)
		}
	})
	b.Run("from_stored", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(stored)))
		for b.Loop() {
			if _, err := k.AppendProtobufItem(dst, stored); err != nil {
				b.Fatal(err)
			}
		}
	})
}
