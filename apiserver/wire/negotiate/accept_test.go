package negotiate_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// query is a parsed query.
type query url.Values

func (q query) Has(name string) bool   { return url.Values(q).Has(name) }
func (q query) Get(name string) string { return url.Values(q).Get(name) }

func request(headers ...string) *http.Request {
	r := &http.Request{Header: http.Header{}}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// answer returns the form of a response that has no other variant.
func answer(r *http.Request, q negotiate.Query, protobuf bool) (negotiate.Form, error) {
	form, _, err := negotiate.Choose(r, q, negotiate.Own(protobuf))
	return form, err
}

const (
	refused   = negotiate.Form(255)
	kube      = "application/vnd.kubernetes.protobuf"
	platform  = "application/vnd.platform.protobuf"
	tableJSON = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		row, accept string
		want        negotiate.Form
		without     negotiate.Form // if protobuf is not offered
	}{
		{"B15 anything", "*/*", negotiate.JSON, negotiate.JSON},
		{"B15 any application", "application/*", negotiate.JSON, negotiate.JSON},
		{"B15 empty", "", negotiate.JSON, negotiate.JSON},
		{"B16 json", "application/json", negotiate.JSON, negotiate.JSON},
		{"B16 with a charset", "application/json; charset=utf-8", negotiate.JSON, negotiate.JSON},
		{"B16 in capitals", "Application/JSON", negotiate.JSON, negotiate.JSON},
		{"§4.3 the stream form", "application/json;stream=watch", negotiate.JSON, negotiate.JSON},
		{"B17 yaml", "application/yaml", negotiate.YAML, negotiate.YAML},
		{"B18 protobuf", platform, negotiate.Protobuf, refused},
		{"B19 alias", kube, negotiate.KubernetesProtobuf, refused},
		{"§4.3 the protobuf stream form", platform + ";stream=watch", negotiate.Protobuf, refused},
		{"B19 alias, else JSON", kube + ",application/json", negotiate.KubernetesProtobuf, negotiate.JSON},
		{"B22 order", "application/yaml, application/json", negotiate.YAML, negotiate.YAML},
		{"B22 quality", "application/yaml;q=0.2, " + platform + ";q=0.9, application/json;q=0.5", negotiate.Protobuf, negotiate.JSON},
		{"B22 unknown skipped", "text/html, application/xml;q=0.9, */*;q=0.8", negotiate.JSON, negotiate.JSON},
		{"B22 quality 0", "application/json;q=0, application/yaml;q=0.1", negotiate.YAML, negotiate.YAML},
		{"B22 all but JSON", "application/json;q=0, */*", negotiate.YAML, negotiate.YAML},
		{"B22 all but text", "application/json;q=0, application/yaml;q=0, */*", negotiate.Protobuf, refused},
		{"B22 nothing at all", "*/*;q=0", refused, refused},
		{"B22 quality out of range", "application/json;q=2", refused, refused},
		{"B22 quality not a number", "application/json;q=NaN", refused, refused},
		{"B30 Table, else JSON", tableJSON + ",application/json", negotiate.JSON, negotiate.JSON},
		{"B31 metadata in protobuf, else JSON", kube + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json", negotiate.JSON, negotiate.JSON},
		{"B32 Table only", tableJSON, refused, refused},
		{"B23 html", "text/html", refused, refused},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			for offered, want := range map[bool]negotiate.Form{true: tc.want, false: tc.without} {
				form, err := answer(request("Accept: "+tc.accept), nil, offered)
				if want == refused {
					checkRefused(t, err)
				} else if err != nil || form != want {
					t.Errorf("protobuf %v: form %v, %v", offered, form, err)
				}
			}
		})
	}
	t.Run("B15 absent", func(t *testing.T) {
		t.Parallel()
		if form, err := answer(request(), nil, true); form != negotiate.JSON || err != nil {
			t.Errorf("form %v, %v", form, err)
		}
	})
	t.Run("B22 two headers are one", func(t *testing.T) {
		t.Parallel()
		r := request("Accept: application/json;q=0.1", "Accept: application/yaml")
		if form, err := answer(r, nil, true); form != negotiate.YAML || err != nil {
			t.Errorf("form %v, %v", form, err)
		}
	})
}

var (
	tableTarget   = negotiate.Target{Group: "meta.k8s.io", Version: "v1", Kind: "Table"}
	partialTarget = negotiate.Target{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}
)

// A target is chosen like a form: by descending quality, then by order (B22).
func TestChoose(t *testing.T) {
	t.Parallel()
	offered := []negotiate.Variant{
		{Forms: negotiate.Offered(negotiate.YAML, negotiate.Protobuf)},
		{Target: tableTarget, Forms: negotiate.Offered(negotiate.YAML)},
		{Target: partialTarget, Forms: negotiate.Offered(negotiate.Protobuf)},
	}
	const (
		as      = ";as=Table;v=v1;g=meta.k8s.io"
		partial = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	)
	none := negotiate.Target{}
	for _, tc := range []struct {
		row, accept string
		form        negotiate.Form
		target      negotiate.Target
	}{
		{"B24 Table", tableJSON, negotiate.JSON, tableTarget},
		{"B24 Table before JSON", tableJSON + ",application/json", negotiate.JSON, tableTarget},
		{"B24 YAML", "application/yaml" + as, negotiate.YAML, tableTarget},
		{"B24 JSON, as the Table has no protobuf", platform + as + "," + tableJSON, negotiate.JSON, tableTarget},
		{"B24 no version of its own", "application/json;as=Table;g=meta.k8s.io,application/yaml", negotiate.YAML, none},
		{"B22 quality", tableJSON + ";q=0.1,application/yaml", negotiate.YAML, none},
		{"B22 Table refused", tableJSON + ";q=0,*/*" + as, negotiate.YAML, tableTarget},
		{"B22 JSON refused but as a Table", "application/json;q=0," + tableJSON, negotiate.JSON, tableTarget},
		{"B31 protobuf first", platform + partial + ",application/json" + partial, negotiate.Protobuf, partialTarget},
		{"B31 else the object", kube + partial + "," + platform, negotiate.Protobuf, none},
		{"B32", "application/json;as=Table;v=v2;g=meta.k8s.io", refused, none},
		{"B32 a form that the Table lacks", platform + as, refused, none},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			form, target, err := negotiate.Choose(request("Accept: "+tc.accept), nil, offered...)
			if tc.form == refused {
				checkRefused(t, err)
			} else if err != nil || form != tc.form || target != tc.target {
				t.Errorf("form %v, target %v, %v", form, target, err)
			}
		})
	}
	_, _, err := negotiate.Choose(request("Accept: "+platform+as), nil, offered...)
	if err == nil || !strings.Contains(err.Error(), "Kind=Table: application/json, application/yaml; without") {
		t.Errorf("B32: %v", err)
	}
}

func checkRefused(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*status.Error](err); !ok || e.Status.Code != http.StatusNotAcceptable {
		t.Errorf("not refused: %v", err)
	}
}

func TestRefusalNamesWhatIsProduced(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ row, accept, want string }{
		{"B23", "text/html", "only the following media types are accepted: application/json, application/yaml, application/vnd.platform.protobuf"},
		{"B32", "application/json;as=Pie;v=v9;g=x.io", "only the following media types are accepted when converting to x.io/v9, Kind=Pie: none"},
	} {
		_, err := answer(request("Accept: "+tc.accept), nil, true)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.row, err)
		}
	}
	_, err := answer(request("Accept: text/html"), nil, false)
	if err == nil || strings.Contains(err.Error(), "protobuf") {
		t.Errorf("B21: %v", err)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	streamed := negotiate.Variant{Forms: negotiate.Offered(negotiate.Protobuf, negotiate.KubernetesProtobuf)}
	rows := negotiate.Variant{Target: tableTarget, Forms: negotiate.Offered()}
	for _, tc := range []struct {
		accept string
		want   negotiate.Form
	}{
		{"application/json", negotiate.JSON},
		{"application/json;stream=watch", negotiate.JSON},
		{"*/*", negotiate.JSON},
		{platform, negotiate.Protobuf},
		{platform + ";stream=watch", negotiate.Protobuf},
		{kube + ";stream=watch,application/json", negotiate.KubernetesProtobuf},
		{"application/yaml", refused},
		{"application/yaml, application/json;q=0.1", negotiate.JSON},
		{tableJSON + "," + "application/json", negotiate.JSON},
	} {
		t.Run("D7 "+tc.accept, func(t *testing.T) {
			t.Parallel()
			form, target, err := negotiate.ChooseStream(request("Accept: "+tc.accept, "User-Agent: curl/8"), streamed, rows)
			if wanted := strings.HasPrefix(tc.accept, tableJSON); (target == rows.Target) != wanted {
				t.Errorf("target %v", target)
			}
			if tc.want == refused {
				checkRefused(t, err)
			} else if err != nil || form != tc.want {
				t.Errorf("form %v, %v", form, err)
			}
		})
	}
	_, _, err := negotiate.ChooseStream(request("Accept: "+platform), negotiate.Variant{Forms: negotiate.Offered()})
	checkRefused(t, err)
}

func TestPretty(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		row, query, agent string
		want              bool
	}{
		{"B6 true", "pretty=true", "", true},
		{"B6 one", "pretty=1", "", true},
		{"B6 no value", "pretty", "", true},
		{"B6 false", "pretty=false", "curl/8", false},
		{"B6 not a boolean", "pretty=maybe", "curl/8", false},
		{"B7 curl", "", "curl/8.1", true},
		{"B7 Wget", "", "Wget/1.21", true},
		{"B7 a browser", "", "Mozilla/5.0 (X11)", true},
		{"B7 a program", "", "kubectl/v1", false},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			values, err := url.ParseQuery(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			form, err := answer(request("User-Agent: "+tc.agent), query(values), true)
			if err != nil || (form == negotiate.PrettyJSON) != tc.want {
				t.Errorf("form %v, %v", form, err)
			}
		})
	}
}

func TestTakesGzip(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"":                       false,
		"gzip":                   true,
		"GZIP":                   true,
		"deflate, gzip;q=0.5":    true,
		"gzip;q=0":               false,
		"gzip; q=0.000":          false,
		"gzip;q=x":               false,
		"*":                      true,
		"*;q=0":                  false,
		"gzip;q=0, *":            false,
		"*;q=0, gzip":            true,
		"identity, br":           false,
		"br;q=1.0, gzip;q=0.001": true,
	} {
		if got := negotiate.TakesGzip(request("Accept-Encoding: " + value)); got != want {
			t.Errorf("B33 %q: %v", value, got)
		}
	}
}

// For any header, the result is an offered form or a refusal.
func FuzzAnswer(f *testing.F) {
	f.Add(platform+";q=0.5,application/json;q=0", true)
	f.Add(tableJSON+",*/*;q=0.1", false)
	f.Fuzz(func(t *testing.T, accept string, protobuf bool) {
		form, err := answer(request("Accept: "+accept), nil, protobuf)
		if err != nil {
			checkRefused(t, err)
			return
		}
		if form >= negotiate.Forms || form.Binary() && !protobuf {
			t.Errorf("form %v for %q", form, accept)
		}
	})
}
