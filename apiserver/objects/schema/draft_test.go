package schema_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

// TestMain creates the test objects of new kinds if -update is set, before any test reads them.
func TestMain(m *testing.M) {
	flag.Parse()
	if *update {
		if err := draftMissing(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// draftMissing drafts, for each kind without a full object, the two objects that the tests start
// from: testdata/golden/full/NAME.yaml with every field, and testdata/objects/NAME.yaml, which a
// client creates. It uses the kind's file and values from the full objects of other kinds. A draft
// that hooks reject must be edited by hand.
func draftMissing() error {
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		return err
	}
	var known samples
	var missing []*schema.Kind
	for _, k := range catalog.Kinds() {
		if k.Storage() != k && !k.Converts() {
			continue // it shares the golden files of the stored kind
		}
		text, err := os.ReadFile(filepath.Join(fullObjects, goldenName(k)+".yaml"))
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, k)
			continue
		}
		if err != nil {
			return err
		}
		if err := known.add(k, text); err != nil {
			return err
		}
	}
	for _, k := range missing {
		if err := known.draft(k); err != nil {
			return fmt.Errorf("draft %s: %w", k.File, err)
		}
	}
	return nil
}

// samples holds values from the full objects of other kinds, in the order of the kinds' files.
type samples struct {
	messages map[string][]json.RawMessage // by the name of the message
	texts    map[string][]string          // by the name of the format
}

// add adds the values of a kind's full object.
func (s *samples) add(k *schema.Kind, text []byte) error {
	if s.messages == nil {
		*s = samples{map[string][]json.RawMessage{}, map[string][]string{}}
	}
	body, err := schema.YAMLToJSON(text, maxYAML)
	if err != nil {
		return err
	}
	o, _, err := k.Decode(body)
	if err != nil {
		return err
	}
	s.fields(o.Root())
	return nil
}

func (s *samples) fields(v *schema.Value) {
	for _, f := range v.Type().Message().Fields() {
		kid := v.Field(f.Name)
		if !kid.IsSet() {
			continue
		}
		switch f.Type.Form {
		case schema.FormString:
			s.text(f.Spec.Format, kid)
		case schema.FormMessage:
			s.message(kid)
		case schema.FormList:
			for _, item := range kid.Items() {
				switch item.Type().Form {
				case schema.FormString:
					s.text(f.Spec.ItemFormat, item)
				case schema.FormMessage:
					s.message(item)
				}
			}
		}
	}
}

func (s *samples) message(v *schema.Value) {
	name := v.Type().Message().Name
	s.messages[name] = append(s.messages[name], v.AppendJSON(nil))
	s.fields(v)
}

func (s *samples) text(format string, v *schema.Value) {
	if format != "" && v.Str() != "" {
		s.texts[format] = append(s.texts[format], v.Str())
	}
}

// draft writes the kind's two objects.
func (s *samples) draft(k *schema.Kind) error {
	full := s.object(k.Message, 0, 0)
	var metadata map[string]any
	longest := slices.MaxFunc(s.messages["ObjectMeta"], func(a, b json.RawMessage) int { return len(a) - len(b) })
	if err := json.Unmarshal(longest, &metadata); err != nil {
		return err
	}
	delete(metadata, "namespace")
	created := map[string]any{"name": goldenName(k) + "-1"}
	if k.Namespaced {
		metadata["namespace"], created["namespace"] = "team-a", "shop"
	}
	metadata["selfLink"] = k.Prefix + "/" + k.Plural + "/full-1"
	full["kind"], full["apiVersion"], full["metadata"] = k.Kind, k.APIVersion, metadata
	if err := writeYAML(k, full, filepath.Join(fullObjects, goldenName(k)+".yaml")); err != nil {
		return err
	}
	o, err := decodeAny(k, full)
	if err != nil {
		return err
	}
	forms := map[string][]byte{".json": append(o.AppendJSON(nil), '\n'), ".pb": o.AppendProtobuf(nil)}
	for extension, form := range forms {
		if err := os.WriteFile(filepath.Join(fullObjects, goldenName(k)+extension), form, 0o600); err != nil {
			return err
		}
	}
	full["metadata"] = created
	return writeYAML(k, full, filepath.Join("testdata", "objects", goldenName(k)+".yaml"))
}

// decodeAny decodes an object. It drops fields that the kind does not have; samples may contain
// some, because other kinds have other contexts.
func decodeAny(k *schema.Kind, object map[string]any) (*schema.Object, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	o, _, err := k.Decode(body)
	return o, err
}

func writeYAML(k *schema.Kind, object map[string]any, path string) error {
	o, err := decodeAny(k, object)
	if err != nil {
		return err
	}
	text, err := schema.ToYAML(o.AppendJSON(nil))
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// maxDraftDepth limits the nesting of messages that contain themselves.
const maxDraftDepth = 6

// object returns the i-th message of a type, with every field set.
func (s *samples) object(m *schema.Message, i, depth int) map[string]any {
	out := map[string]any{}
	if depth == maxDraftDepth {
		return out
	}
	for _, f := range m.Fields() {
		spec := f.Spec
		switch f.Type.Form {
		case schema.FormList:
			item := schema.FieldSpec{Enum: spec.ItemEnum, Format: spec.ItemFormat, Min: spec.ItemMin, Max: spec.ItemMax}
			items := make([]any, max(2, spec.MinItems))
			for j := range items {
				items[j] = s.value(f.Type.Elem(), &item, f.Name, j, depth)
			}
			out[f.Name] = items
		case schema.FormMap:
			entries := map[string]any{}
			value := schema.FieldSpec{Format: spec.ValueFormat, Min: spec.ValueMin}
			for j := range 2 {
				key := s.string(&schema.FieldSpec{Format: spec.KeyFormat}, "key", j)
				entries[key] = s.value(f.Type.Elem(), &value, f.Name, j, depth)
			}
			out[f.Name] = entries
		default:
			out[f.Name] = s.value(f.Type, spec, f.Name, i, depth)
		}
	}
	return out
}

// value returns the i-th value for a field of that name.
func (s *samples) value(t *schema.Type, spec *schema.FieldSpec, name string, i, depth int) any {
	switch t.Form {
	case schema.FormMessage:
		if known := s.messages[t.Message().Name]; i < len(known) {
			return known[i]
		}
		return s.object(t.Message(), i, depth+1)
	case schema.FormList:
		anything := &schema.FieldSpec{}
		return []any{s.value(t.Elem(), anything, name, 0, depth), s.value(t.Elem(), anything, name, 1, depth)}
	case schema.FormBool:
		return true
	case schema.FormInt32, schema.FormInt64, schema.FormUint32, schema.FormIntOrString:
		return number(spec, i)
	case schema.FormDouble:
		return 0.5 + float64(i)
	case schema.FormBytes:
		return []byte(name + "-" + strconv.Itoa(i+1))
	case schema.FormTime:
		return fmt.Sprintf("2018-01-02T03:04:%02dZ", i+5)
	case schema.FormMicroTime:
		return fmt.Sprintf("2018-01-02T03:04:%02d.000006Z", i+5)
	case schema.FormQuantity:
		return strconv.Itoa(i + 1)
	case schema.FormRaw:
		return map[string]any{name: i + 1}
	default:
		return s.string(spec, name, i)
	}
}

func number(spec *schema.FieldSpec, i int) int64 {
	n := int64(1 + i)
	if spec.Min != nil {
		n = max(n, *spec.Min+int64(i))
	}
	if spec.Max != nil {
		n = min(n, *spec.Max)
	}
	return n
}

func (s *samples) string(spec *schema.FieldSpec, name string, i int) string {
	for _, values := range [][]string{spec.Enum, spec.EnumOpen, s.texts[spec.Format]} {
		if len(values) > 0 {
			distinct := slices.Compact(slices.Clone(values))
			return distinct[i%len(distinct)]
		}
	}
	return fmt.Sprintf("%s-%d", name, i+1)
}
