package conversion

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"quorate/apiserver/wire/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const stored = `{"kind":"W","apiVersion":"e.com/v1","metadata":{"name":"a","namespace":"n","uid":"u","generation":3,"labels":{"l":"1"}},"spec":{"size":1}}`

// start serves a webhook whose answers fn edits: it gets the uid and the objects, as if the webhook
// had set the version alone.
func start(t *testing.T, fn func(uid string, objects []map[string]any) any) *Webhook {
	t.Helper()
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Request struct {
				UID, DesiredAPIVersion string
				Objects                []map[string]any
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		for _, o := range asked.Request.Objects {
			o["apiVersion"] = asked.Request.DesiredAPIVersion
		}
		if err := json.NewEncoder(w).Encode(fn(asked.Request.UID, asked.Request.Objects)); err != nil {
			t.Error(err)
		}
	}))
}

func serve(t *testing.T, h http.Handler, versions ...string) *Webhook {
	t.Helper()
	if versions == nil {
		versions = []string{"v1"}
	}
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	w, err := New(webhook.Config{URL: s.URL, CABundle: ca}, versions, webhook.NewAnswers(prometheus.NewRegistry()), NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func answer(uid, result string, objects any) map[string]any {
	return map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": map[string]any{
		"uid": uid, "convertedObjects": objects, "result": map[string]any{"status": result},
	}}
}

func TestConvert(t *testing.T) {
	w := start(t, func(uid string, objects []map[string]any) any {
		for _, o := range objects {
			o["spec"] = map[string]any{"width": 2}
			meta := o["metadata"].(map[string]any)
			meta["labels"], meta["annotations"] = map[string]string{"l": "2"}, map[string]string{"a": "b"}
			meta["generation"], meta["finalizers"] = 99, []string{"x"}
		}
		return answer(uid, "Success", objects)
	})
	got, err := w.Convert(t.Context(), "e.com/v2", [][]byte{[]byte(stored), []byte(strings.Replace(stored, `"a"`, `"b"`, 1))})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "b"} {
		want := fmt.Sprintf(`{"apiVersion":"e.com/v2","kind":"W","metadata":{"annotations":{"a":"b"},"generation":3,"labels":{"l":"2"},"name":"%s","namespace":"n","uid":"u"},"spec":{"width":2}}`, name)
		if string(got[i]) != want {
			t.Errorf("got %s, not %s", got[i], want)
		}
	}
}

// An answer that is not what was asked for is refused, with a text that says why.
func TestConvertRefusesAnswers(t *testing.T) {
	metadata := func(name string, value any) func(string, []map[string]any) any {
		return func(uid string, objects []map[string]any) any {
			objects[0]["metadata"].(map[string]any)[name] = value
			return answer(uid, "Success", objects)
		}
	}
	for name, tc := range map[string]struct {
		answer func(uid string, objects []map[string]any) any
		want   string
	}{
		"other uid": {func(_ string, o []map[string]any) any { return answer("x", "Success", o) }, `expected response.uid=`},
		"too few":   {func(uid string, _ []map[string]any) any { return answer(uid, "Success", []any{}) }, "webhook returned 0 objects, expected 1"},
		"too many":  {func(uid string, o []map[string]any) any { return answer(uid, "Success", append(o, o[0])) }, "webhook returned 2 objects, expected 1"},
		"failure":   {func(uid string, o []map[string]any) any { return answer(uid, "Failure", o) }, "response.result.status was 'Failure', expected 'Success'"},
		"no result": {func(uid string, o []map[string]any) any { return answer(uid, "", o) }, "response.result.status was '', expected 'Success'"},
		"no response": {func(string, []map[string]any) any {
			return map[string]any{"apiVersion": reviewVersion, "kind": reviewKind}
		}, "no response provided"},
		"other kind":   {func(string, []map[string]any) any { return map[string]any{"kind": "Status"} }, "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview"},
		"null":         {func(uid string, _ []map[string]any) any { return answer(uid, "Success", []any{nil}) }, "invalid converted object at index 0: is null"},
		"no metadata":  {func(uid string, _ []map[string]any) any { return answer(uid, "Success", []any{map[string]any{}}) }, "has no metadata"},
		"name":         {metadata("name", "z"), "must have the same name: z != a"},
		"namespace":    {metadata("namespace", nil), "must have the same namespace:  != n"},
		"object's uid": {metadata("uid", "z"), "must have the same uid: z != u"},
		"labels":       {metadata("labels", map[string]string{"-": "x"}), "metadata.labels: Invalid value"},
		"annotations":  {metadata("annotations", 5), "metadata.annotations: json: cannot unmarshal number"},
		"version": {func(uid string, o []map[string]any) any {
			o[0]["apiVersion"] = "e.com/v3"
			return answer(uid, "Success", o)
		}, "invalid apiVersion (expected: e.com/v2, received: e.com/v3)"},
		"kind": {func(uid string, o []map[string]any) any {
			o[0]["kind"] = "X"
			return answer(uid, "Success", o)
		}, "invalid kind (expected: W, received: X)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := start(t, tc.answer).Convert(t.Context(), "e.com/v2", [][]byte{[]byte(stored)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, not %s", err, tc.want)
			}
		})
	}
}

// The first version of reviews that both sides know is sent, and v1beta1 need not identify the answer.
func TestConvertVersionsOfReviews(t *testing.T) {
	for name, tc := range map[string]struct {
		accepted    []string
		sent        string
		err         string
		uid, answer string // of the answer
	}{
		"v1":                         {accepted: []string{"v1"}, sent: "apiextensions.k8s.io/v1"},
		"v1 first":                   {accepted: []string{"v1", "v1beta1"}, sent: "apiextensions.k8s.io/v1"},
		"v1beta1 first":              {accepted: []string{"v1beta1", "v1"}, sent: "apiextensions.k8s.io/v1beta1"},
		"unknown first":              {accepted: []string{"v2", "v1"}, sent: "apiextensions.k8s.io/v1"},
		"v1beta1":                    {accepted: []string{"v1beta1"}, sent: "apiextensions.k8s.io/v1beta1"},
		"v1beta1 without its uid":    {accepted: []string{"v1beta1"}, sent: "apiextensions.k8s.io/v1beta1", uid: "-", answer: "-"},
		"v1 without its uid":         {accepted: []string{"v1"}, sent: "apiextensions.k8s.io/v1", uid: "-", err: "expected response.uid="},
		"v1 answered by v1beta1":     {accepted: []string{"v1"}, sent: "apiextensions.k8s.io/v1", answer: "apiextensions.k8s.io/v1beta1", err: "expected webhook response of"},
		"v1 answered by no version":  {accepted: []string{"v1"}, sent: "apiextensions.k8s.io/v1", answer: "-", err: "expected webhook response of"},
		"v1beta1 answered by itself": {accepted: []string{"v1beta1"}, sent: "apiextensions.k8s.io/v1beta1", answer: "apiextensions.k8s.io/v1beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked := review{}
				if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.APIVersion != tc.sent || asked.Kind != reviewKind {
					t.Errorf("sent %s %s: %v", asked.APIVersion, asked.Kind, err)
				}
				unless := func(set, otherwise string) string { return strings.TrimPrefix(cmp.Or(set, otherwise), "-") }
				_, _ = fmt.Fprintf(w, `{"apiVersion":%q,"kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Success"},"convertedObjects":[%s]}}`,
					unless(tc.answer, asked.APIVersion), unless(tc.uid, asked.Request.UID), strings.Replace(stored, "e.com/v1", "e.com/v2", 1))
			}), tc.accepted...)
			_, err := w.Convert(t.Context(), "e.com/v2", [][]byte{[]byte(stored)})
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%v, not %q", err, tc.err)
			}
		})
	}
	if _, err := New(webhook.Config{URL: "https://example.com"}, []string{"v2"}, nil, nil); err == nil {
		t.Error("a webhook that accepts no known version is accepted")
	}
}

// A webhook that answers no review, or that cannot be reached, is refused.
func TestConvertFails(t *testing.T) {
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"code": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, "the webhook answered 418"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1:1/", http.StatusFound)
		}, "the webhook answered 302"},
		"text":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, "read the answer: invalid character"},
		"death": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"a million numbers": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"response":{"convertedObjects":[`+strings.Repeat("0,", 1<<20)+`0]}}`)
		}, "expected webhook response"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for range maxResponseBytes>>20 + 1 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, "the answer is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tc.handler)
			_, err := w.Convert(t.Context(), "e.com/v2", [][]byte{[]byte(stored)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, not %s", err, tc.want)
			}
			result := "error"
			if name == "endless" {
				result = "oversized"
			}
			var m dto.Metric
			if err := w.metrics.results.WithLabelValues(result).Write(&m); err != nil || m.GetCounter().GetValue() != 1 {
				t.Errorf("result %s counts %v, %v", result, m.GetCounter().GetValue(), err)
			}
		})
	}
}

// hanging is a webhook that answers nothing before the caller gives up.
type hanging struct {
	entered sync.WaitGroup
}

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.entered.Done()
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A webhook that hangs fails its calls at their deadline. Those beyond the bound on concurrent
// calls wait, and fail at theirs if none of the others has ended.
func TestConvertIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{}
		w, err := New(webhook.Config{URL: "https://example.com", Transport: h}, []string{"v1"}, webhook.NewAnswers(prometheus.NewRegistry()), NewMetrics(prometheus.NewRegistry()))
		if err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		h.entered.Add(maxCalls)
		for range maxCalls {
			calls.Go(func() {
				if _, err := w.Convert(context.Background(), "e.com/v2", nil); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
					t.Errorf("%v", err)
				}
			})
		}
		h.entered.Wait()
		sooner, cancel := context.WithTimeout(t.Context(), callTimeout-time.Second)
		defer cancel()
		if _, err := w.Convert(sooner, "e.com/v2", nil); !errors.Is(err, webhook.ErrBusy) {
			t.Errorf("%v", err)
		}
		calls.Wait()
	})
}

// slow is a webhook that takes its time.
type slow struct{ takes time.Duration }

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked struct {
		Request struct {
			UID     string
			Objects []json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	time.Sleep(s.takes)
	body, err := json.Marshal(answer(asked.Request.UID, "Success", asked.Request.Objects))
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}, nil
}

// Calls beyond the bound on concurrent ones wait for their turn as long as a call may take, and all
// succeed.
func TestConvertWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := New(webhook.Config{URL: "https://example.com", Transport: slow{4 * time.Second}}, []string{"v1"}, webhook.NewAnswers(prometheus.NewRegistry()), NewMetrics(prometheus.NewRegistry()))
		if err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		for range 2 * maxCalls {
			calls.Go(func() {
				if _, err := w.Convert(t.Context(), "e.com/v1", [][]byte{[]byte(stored)}); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	})
}
