package schema

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestDecodeErrors(t *testing.T) {
	cat := engine(t)
	for _, tc := range []struct {
		name, plural, body, message string
	}{
		{"kind_of_another_route_A35", "configmaps", `{"kind":"Pod","apiVersion":"v1"}`,
			`Pod in version "v1" cannot be handled as a ConfigMap: the kind in the data (Pod) does not match the expected kind (ConfigMap)`},
		{"apiVersion_of_another_route_A36", "configmaps", `{"kind":"ConfigMap","apiVersion":"v2"}`,
			"the API version in the data (v2) does not match the expected API version (v1)"},
		{"empty_body_A37", "pods", " \n", "the object provided is unrecognized (must be of type Pod): EOF, no data"},
		{"malformed_A38", "pods", `{"kind":}`,
			"the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: invalid character '}' looking for beginning of value at offset 8"},
		{"cut_off_A38", "pods", `{"kind":"Pod"`, "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: unexpected end of JSON input at offset 13"},
		{"wrong_type_names_field_and_offset_A38", "pods", `{"spec":{"containers":[{"ports":[{"containerPort":"http"}]}]}}`,
			`Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field Pod.spec.containers[0].ports[0].containerPort of type int32 (offset 50)`},
		{"number_in_string_map_M18", "configmaps", `{"data":{"k":7}}`,
			`ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data.k of type string (offset 13)`},
		{"fraction_in_integer_A38", "pods", `{"spec":{"terminationGracePeriodSeconds":1.5}}`,
			`Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number 1.5 into Go struct field Pod.spec.terminationGracePeriodSeconds of type int64 (offset 41)`},
		{"int32_overflow_A38", "pods", `{"spec":{"containers":[{"ports":[{"containerPort":2147483648}]}]}}`,
			`Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number 2147483648 into Go struct field Pod.spec.containers[0].ports[0].containerPort of type int32 (offset 50)`},
		{"array_for_object_A38", "pods", `{"spec":[]}`,
			`Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal array into Go struct field Pod.spec of type PodSpec (offset 8)`},
		{"array_as_body_A38", "pods", `[]`, `Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal array into Go value of type Pod (offset 0)`},
		{"trailing_garbage_A39", "pods", `{} x`, "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: invalid character 'x' after top-level value at offset 3"},
		{"second_document_A39", "pods", `{}{}`, "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: invalid character '{' after top-level value at offset 2"},
		{"bad_quantity_A40", "nodes", `{"status":{"capacity":{"cpu":"lots"}}}`,
			`Node in version "v1" cannot be handled as a Node: status.capacity.cpu: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' (offset 29)`},
		{"bad_time_A40", "events", `{"firstTimestamp":"yesterday"}`,
			`Event in version "v1" cannot be handled as a Event: firstTimestamp: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006" (offset 18)`},
		{"bool_for_intOrString_A40", "pods", `{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]}}`,
			`Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal bool into Go struct field Pod.spec.containers[0].livenessProbe.httpGet.port of type IntOrString (offset 59)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := cat.Kind("/api/v1", tc.plural).Decode([]byte(tc.body))
			var de *DecodeError
			if !errors.As(err, &de) || de.Message != tc.message {
				t.Errorf("got  %v\nwant %s", err, tc.message)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	cat := engine(t)
	t.Run("fills_in_kind_and_apiVersion_A34", func(t *testing.T) {
		o := decode(t, cat.Kind("/api/v1", "configmaps"), `{"metadata":{"name":"x"}}`)
		if got, want := string(o.AppendJSON(nil)), `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","creationTimestamp":null}}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("reports_unknown_and_duplicate_fields_A46_A49", func(t *testing.T) {
		k := cat.Kind("/api/v1", "configmaps")
		body := `{"spec":{"foo":1},"data":{"k":"1","a":"2","k":"3"},"metadata":{"Name":"X","name":"a","name":"b","managedFields":[{"manager":"m"}]}}`
		o, problems, err := k.Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`unknown field "spec"`, `duplicate field "data.k"`, `unknown field "metadata.Name"`, `duplicate field "metadata.name"`}
		if got := problems.List(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if o.Name() != "b" || o.Field("data").Get("k").Str() != "3" || o.Field("data").Len() != 2 {
			t.Errorf("the last one does not count: %s", o.AppendJSON(nil))
		}
		wantErr := `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ` + strings.Join(want, ", ")
		if err := k.StrictError(problems); err == nil || err.Error() != wantErr {
			t.Errorf("got %v, want %s", err, wantErr)
		}
		if err := k.StrictError(Problems{}); err != nil {
			t.Errorf("strict error without problems: %v", err)
		}
	})
	t.Run("names_list_items_in_problems_A48", func(t *testing.T) {
		_, problems, err := cat.Kind("/api/v1", "pods").Decode([]byte(`{"spec":{"priority":1,"containers":[{},{"foo":{"x":1}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := problems.List(), []string{`unknown field "spec.priority"`, `unknown field "spec.containers[1].foo"`}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("template_only_fields_M33", func(t *testing.T) {
		o, problems, err := cat.Kind("/apis/apps/v1beta2", "daemonsets").Decode([]byte(`{"spec":{"template":{"spec":{"priority":1}}}}`))
		if err != nil || len(problems.List()) > 0 || o.Root().Lookup("spec", "template", "spec", "priority").Int() != 1 {
			t.Errorf("priority in a template: %v, %v", problems, err)
		}
	})
	t.Run("bounds_problems", func(t *testing.T) {
		body := `{` + strings.Repeat(`"`+strings.Repeat("x", 2000)+`":1,`, 500) + `"z":1}`
		_, problems, err := cat.Kind("/api/v1", "pods").Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		list := problems.List()
		if len(list) != maxProblems+1 || list[maxProblems] != "401 more unknown or duplicate fields" {
			t.Errorf("%d problems, last %q", len(list), list[len(list)-1])
		}
	})
	t.Run("memory_is_bounded", func(t *testing.T) {
		body := `{"spec":{"volumes":[` + strings.Repeat("{},", 1<<20) + `{}]}}`
		_, _, err := cat.Kind("/api/v1", "pods").Decode([]byte(body))
		if err == nil || !strings.Contains(err.Error(), "the object holds too many messages") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("null_is_unset_A60", func(t *testing.T) {
		o := decode(t, cat.Kind("/api/v1", "configmaps"), `{"kind":null,"data":{"a":null},"metadata":{"labels":null,"name":null}}`)
		if o.Labels().IsSet() || o.Field("data").Get("a").Str() != "" || o.Field("data").Len() != 1 {
			t.Errorf("got %s", o.AppendJSON(nil))
		}
	})
	t.Run("deep_nesting_is_rejected", func(t *testing.T) {
		for _, body := range []string{
			`{"x":` + strings.Repeat("[", 100000),
			`{"containerImageMetadata":` + strings.Repeat(`{"a":`, 100000),
		} {
			if _, _, err := cat.Kind("/apis/image.platform.io/v1", "images").Decode([]byte(body)); err == nil {
				t.Error("accepted")
			}
		}
	})
	t.Run("wrong_UTF8_is_replaced", func(t *testing.T) {
		o := decode(t, cat.Kind("/api/v1", "configmaps"), "{\"data\":{\"a\":\"x\xffy\\ud800z\\ud83d\\ude00\"}}")
		if got, want := o.Field("data").Get("a").Str(), "x\ufffdy\ufffdz\U0001f600"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestScalars(t *testing.T) {
	cat := engine(t)
	node := cat.Kind("/api/v1", "nodes")
	t.Run("quantities_are_canonical_M25", func(t *testing.T) {
		for in, want := range map[string]string{
			`"1000m"`: "1", `"500m"`: "500m", `"1024Mi"`: "1Gi", `"1500Mi"`: "1500Mi", `2`: "2", `"0.5"`: "500m", `1e3`: "1e3",
			`"100n"`: "1m", `"0"`: "0", `"0Mi"`: "0", `"1000k"`: "1M", `"-1"`: "-1", `"007"`: "7", `"1.5Gi"`: "1536Mi", `"12345678"`: "12345678",
		} {
			o := decode(t, node, `{"status":{"capacity":{"cpu":`+in+`}}}`)
			if got := o.Root().Lookup("status", "capacity").Get("cpu").Str(); got != want {
				t.Errorf("%s: got %s, want %s", in, got, want)
			}
		}
	})
	t.Run("huge_exponents_are_rejected_A40", func(t *testing.T) {
		for _, q := range []string{"1e-9999999", "1e+00999999999", "1E99999", strings.Repeat("9", 200)} {
			if _, _, err := node.Decode([]byte(`{"status":{"capacity":{"cpu":"` + q + `"}}}`)); err == nil {
				t.Errorf("%s accepted", q)
			}
		}
	})
	t.Run("times_are_UTC_seconds", func(t *testing.T) {
		for in, want := range map[string]string{
			`"2018-01-02T03:04:05Z"`: `"2018-01-02T03:04:05Z"`, `"2018-01-02T05:04:05.999+02:00"`: `"2018-01-02T03:04:05Z"`,
			`"0001-01-01T00:00:00Z"`: "null", "null": "null", `"1970-01-01T00:00:00Z"`: `"1970-01-01T00:00:00Z"`,
		} {
			o := decode(t, cat.Kind("/api/v1", "events"), `{"firstTimestamp":`+in+`}`)
			if got := string(o.AppendJSON(nil)); !strings.Contains(got, `"firstTimestamp":`+want+`,`) {
				t.Errorf("%s: got %s", in, got)
			}
		}
	})
	t.Run("raw_JSON_is_compact", func(t *testing.T) {
		o := decode(t, cat.Kind("/apis/image.platform.io/v1", "images"), `{"containerImageMetadata":{ "b" : [1, 2.50, "a\/\u00e9"] , "a":{} }}`)
		if got, want := o.Field("containerImageMetadata").Str(), `{"b":[1,2.50,"a/é"],"a":{}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("bytes_are_base64", func(t *testing.T) {
		k := cat.Kind("/apis/image.platform.io/v1", "images")
		o := decode(t, k, `{"containerImageSignatures":["aGVsbG8="]}`)
		if got := o.Field("containerImageSignatures").At(0).Str(); got != "hello" {
			t.Errorf("got %q", got)
		}
		if got := string(o.AppendJSON(nil)); !strings.Contains(got, `"containerImageSignatures":["aGVsbG8="]`) {
			t.Errorf("got %s", got)
		}
		if _, _, err := k.Decode([]byte(`{"containerImageSignatures":["?"]}`)); err == nil {
			t.Error("bad base64 accepted")
		}
	})
}

// TestCanonicalQuantity compares isCanonical with the library.
func TestCanonicalQuantity(t *testing.T) {
	for n := range 4200 {
		for _, suffix := range []string{"", "m", "k", "M", "G", "Ki", "Mi", "Gi", "Ti", "Pi"} {
			s := itoa(n) + suffix
			if !isCanonical(s) {
				continue
			}
			if slow := mustQuantity(t, s); slow != s {
				t.Fatalf("%s counts as canonical, but %s is", s, slow)
			}
		}
	}
}
