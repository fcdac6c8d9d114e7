package negotiate_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

const maxBytes = 1 << 20

func catalog(t testing.TB) *schema.Catalog {
	t.Helper()
	c, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func configMaps(t testing.TB) *schema.Kind {
	t.Helper()
	k := catalog(t).Kind("/api/v1", "configmaps")
	if k == nil {
		t.Fatal("no configmaps")
	}
	return k
}

// envelope returns a ConfigMap as a client sends it in protobuf.
func envelope(t testing.TB, k *schema.Kind, apiVersion, kind, object string) string {
	t.Helper()
	o, _, err := k.Decode([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	return string(schema.AppendEnvelope(nil, apiVersion, kind, o.AppendProtobuf(nil)))
}

const (
	plainJSON = `{"metadata":{"name":"m"},"data":{"a":"1"}}`
	plainYAML = "metadata: {name: m}\ndata: {a: '1'}\n"
)

func TestBody(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	proto := envelope(t, k, "v1", "ConfigMap", plainJSON)
	for _, tc := range []struct {
		row, contentType, body string
		code                   int
		message                string
	}{
		{"A41 absent", "", plainJSON, 200, ""},
		{"A41 json", "application/json", plainJSON, 200, ""},
		{"A41 parameters", "application/json; charset=utf-8", plainJSON, 200, ""},
		{"A41 yaml", "application/yaml", plainYAML, 200, ""},
		{"A41 protobuf", platform, proto, 200, ""},
		{"B19 alias", kube, proto, 200, ""},
		{"B19 in capitals, with a parameter", "Application/VND.Kubernetes.Protobuf; a=b", proto, 200, ""},
		{"A42 json of another type", "application/x-www-form-urlencoded", plainJSON, 200, ""},
		{"A42 yaml of another type", "text/plain", plainYAML, 200, ""},
		{"Z3 protobuf of another type", "application/octet-stream", proto, 200, ""},
		{"Z3 neither", "text/plain", "plain words", 415, "application/json, application/yaml, application/vnd.platform.protobuf"},
		{"A34 nothing in the envelope", kube, envelope(t, k, "", "", plainJSON), 200, ""},
		{"A35 another kind in the envelope", kube, envelope(t, k, "v1", "Secret", plainJSON), 400, "Secret"},
		{"A36 another version in the envelope", kube, envelope(t, k, "v2", "ConfigMap", plainJSON), 400, "v2"},
		{"A37 empty", kube, "", 400, "no data"},
		{"A38 no envelope", kube, plainJSON, 400, "prefix"},
		{"A38 cut short", kube, proto[:len(proto)-8], 400, ""},
		{"A38 protobuf called json", "application/json", proto, 400, ""},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			b, err := negotiate.NewBody([]byte(tc.body), negotiate.Sent(tc.contentType), maxBytes)
			var o *schema.Object
			if err == nil {
				o, _, err = b.Decode(k)
			}
			if tc.code != http.StatusOK {
				checkCode(t, err, tc.code, tc.message)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			again, _, err := b.Decode(k)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []*schema.Object{o, again} {
				if o.Name() != "m" || o.Field("data").Get("a").Str() != "1" || o.Field("kind").Str() != "ConfigMap" {
					t.Errorf("got %s", o.AppendJSON(nil))
				}
			}
		})
	}
}

func checkCode(t *testing.T, err error, code int, message string) {
	t.Helper()
	failed, mapped := status.From(err, status.Subject{})
	if err == nil || !mapped || failed.Status.Code != code || !strings.Contains(failed.Status.Message, message) {
		t.Errorf("want %d %q, got %v", code, message, err)
	}
}

func TestDeleteOptionsInProtobuf(t *testing.T) {
	t.Parallel()
	m := catalog(t).Message("DeleteOptions")
	v, _, err := m.Decode([]byte(`{"gracePeriodSeconds":0,"preconditions":{"uid":"u"},"propagationPolicy":"Orphan"}`))
	if err != nil {
		t.Fatal(err)
	}
	sent := schema.AppendEnvelope(nil, "meta.k8s.io/v1", "DeleteOptions", v.AppendProtobuf(nil))
	b, err := negotiate.NewBody(sent, negotiate.Sent(kube), maxBytes)
	if err != nil || b.Empty() {
		t.Fatal(err)
	}
	got, _, err := b.DecodeMessage(m)
	if err != nil {
		t.Fatal(err)
	}
	want := `"gracePeriodSeconds":0,"preconditions":{"uid":"u"},"propagationPolicy":"Orphan"`
	if text := string(got.AppendJSON(nil)); !strings.Contains(text, want) || got.Field("kind").Str() != "DeleteOptions" ||
		got.Field("apiVersion").Str() != "meta.k8s.io/v1" {
		t.Errorf("got %s", text)
	}
	none, err := negotiate.NewBody(nil, negotiate.Sent(kube), maxBytes)
	if err != nil || !none.Empty() {
		t.Errorf("an empty body: %v", err)
	}
}

// For any body, the result is an object or an error with a Status.
func FuzzBody(f *testing.F) {
	k := configMaps(f)
	f.Add([]byte(plainJSON), "text/plain")
	f.Add([]byte(plainYAML), "application/yaml")
	f.Add([]byte(envelope(f, k, "v1", "ConfigMap", plainJSON)), kube)
	f.Add([]byte("k8s\x00\x0a\xff"), "")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		b, err := negotiate.NewBody(body, negotiate.Sent(contentType), maxBytes)
		if err == nil {
			_, _, err = b.Decode(k)
		}
		if err == nil {
			return
		}
		if _, mapped := status.From(err, status.Subject{}); !mapped {
			t.Errorf("an error without a Status: %v", err)
		}
		if _, decode := errors.AsType[*schema.DecodeError](err); !decode {
			checkCode(t, err, http.StatusUnsupportedMediaType, "")
		}
	})
}
