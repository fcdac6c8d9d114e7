package protofile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"quorate/apiserver/describe/protofile"
	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPublishedFilesDecodeObjects_B20 compiles the published files. With these alone, it decodes an
// object of each kind that has all fields. The messages must have every field, with the right name
// and value, and encoding the object again must produce the same bytes.
func TestPublishedFilesDecodeObjects_B20(t *testing.T) {
	cat, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	files, err := protofile.Files(cat)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := protofile.Bundle(cat)
	if err != nil {
		t.Fatal(err)
	}
	for form, texts := range map[string]map[string][]byte{"files": files, "bundle": {"bundle.proto": bundle}} {
		t.Run(form, func(t *testing.T) {
			messages := compile(t, texts)
			for _, k := range cat.Kinds() {
				if !k.HasProtobuf() {
					continue
				}
				t.Run(strings.Trim(k.Prefix, "/")+"/"+k.Plural, func(t *testing.T) { readsObject(t, messages, k) })
			}
			for _, name := range []string{"Status", "WatchEvent", "DeleteOptions", "ListMeta", "Unknown", "PodList", "ClusterRoleBindingLegacyList"} {
				if messages[name] == nil {
					t.Errorf("no message %s", name)
				}
			}
		})
	}
}

// compile compiles files and returns their messages by name.
func compile(t *testing.T, texts map[string][]byte) map[string]protoreflect.MessageDescriptor {
	t.Helper()
	var names []string
	sources := map[string]string{}
	for name, text := range texts {
		names = append(names, name)
		sources[name] = string(text)
	}
	slices.Sort(names)
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(sources)}}
	linked, err := compiler.Compile(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	messages := map[string]protoreflect.MessageDescriptor{}
	for _, file := range linked {
		for i := range file.Messages().Len() {
			m := file.Messages().Get(i)
			if messages[string(m.Name())] != nil {
				t.Errorf("message %s is there twice", m.Name())
			}
			messages[string(m.Name())] = m
		}
	}
	return messages
}

func readsObject(t *testing.T, messages map[string]protoreflect.MessageDescriptor, k *schema.Kind) {
	t.Helper()
	own := k
	if !k.Converts() {
		own = k.Storage()
	}
	name := strings.TrimSuffix(own.File, ".yaml")
	golden := filepath.Join("..", "..", "objects", "schema", "testdata", "golden", "full", name)
	raw, err := os.ReadFile(golden + ".pb")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(golden + ".json")
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(messages[k.Message.Name])
	if err := proto.Unmarshal(raw, m); err != nil {
		t.Fatal(err)
	}
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil || !bytes.Equal(again, raw) {
		t.Errorf("written again it is other bytes: %v", err)
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	delete(want, "kind") // part of the envelope
	delete(want, "apiVersion")
	sameMessage(t, k.Kind, m, want)
}

// sameMessage compares a message with the JSON of the same object.
func sameMessage(t *testing.T, path string, m protoreflect.Message, want map[string]any) {
	t.Helper()
	if len(m.GetUnknown()) > 0 {
		t.Errorf("%s: unknown fields %x", path, m.GetUnknown())
	}
	for name, member := range want {
		holder, f := lookup(m, name)
		switch {
		case f == nil:
			t.Errorf("%s.%s: no such field", path, name)
		case !holder.Has(f):
			t.Errorf("%s.%s: not set", path, name)
		case f.IsMap():
			if entries, ok := member.(map[string]any); !ok || holder.Get(f).Map().Len() != len(entries) {
				t.Errorf("%s.%s: got %v, want %v", path, name, holder.Get(f), member)
			}
		case f.IsList():
			sameList(t, path+"."+name, holder.Get(f).List(), f, member)
		default:
			sameValue(t, path+"."+name, holder.Get(f), f, member)
		}
	}
}

// lookup finds a field in a message, or in a wrapper message whose fields JSON shows in the
// message.
func lookup(m protoreflect.Message, name string) (protoreflect.Message, protoreflect.FieldDescriptor) {
	if f := m.Descriptor().Fields().ByName(protoreflect.Name(name)); f != nil {
		return m, f
	}
	for i := range m.Descriptor().Fields().Len() {
		outer := m.Descriptor().Fields().Get(i)
		if outer.Message() == nil || outer.Message().Parent() != m.Descriptor() || outer.IsMap() {
			continue
		}
		if f := outer.Message().Fields().ByName(protoreflect.Name(name)); f != nil {
			return m.Get(outer).Message(), f
		}
	}
	return nil, nil
}

func sameList(t *testing.T, path string, got protoreflect.List, f protoreflect.FieldDescriptor, want any) {
	t.Helper()
	items, ok := want.([]any)
	if !ok || got.Len() != len(items) {
		t.Errorf("%s: %d items, want %v", path, got.Len(), want)
		return
	}
	for i, item := range items {
		sameValue(t, path, got.Get(i), f, item)
	}
}

func sameValue(t *testing.T, path string, got protoreflect.Value, f protoreflect.FieldDescriptor, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		if f.Message().Name() != "RawExtension" {
			sameMessage(t, path, got.Message(), want)
		}
	case bool:
		if got.Bool() != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	case string:
		if f.Kind() == protoreflect.StringKind && got.String() != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	case float64:
		if f.Kind() != protoreflect.MessageKind && number(got) != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	case []any:
		if items := f.Message().Fields().ByName("items"); items != nil {
			sameList(t, path, got.Message().Get(items).List(), items, want)
		}
	}
}

func number(v protoreflect.Value) float64 {
	if n, ok := v.Interface().(uint32); ok {
		return float64(n)
	}
	return float64(v.Int())
}

func TestFilesHavePaths(t *testing.T) {
	cat, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	files, err := protofile.Files(cat)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"platform/core/v1/generated.proto":             "\npackage platform.core.v1;\n",
		"platform/meta/v1/generated.proto":             "message Unknown {\n  optional TypeMeta typeMeta = 1;\n",
		"platform/rbac/v1/generated.proto":             `import "platform/rbac/v1beta1/generated.proto";`,
		"platform/autoscaling/v2beta1/generated.proto": "// HorizontalPodAutoscaler in apiVersion autoscaling/v2beta1: /apis/autoscaling/v2beta1/horizontalpodautoscalers.\n",
		"platform/image/v1/generated.proto":            "  // An extension: upstream has no such field.\n  optional string publicKeyID = 1003;\n",
	} {
		if !bytes.Contains(files[path], []byte(want)) {
			t.Errorf("%s: no %q in\n%s", path, want, files[path])
		}
	}
}
