package client_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"quorate/chaos/client"
)

// failed is the Status that a correct server fails a request with.
func failed(code int, reason string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","reason":%q,"code":%d}`, reason, code)
}

// failedProtobuf is the same in protobuf.
func failedProtobuf(code uint64, reason string) string {
	text := func(b []byte, n protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
	}
	kind := text(text(nil, 1, "v1"), 2, "Status")
	raw := text(text(text(nil, 2, "Failure"), 3, "m"), 4, reason)
	raw = protowire.AppendVarint(protowire.AppendTag(raw, 6, protowire.VarintType), code)
	return "k8s\x00" + string(text(text(nil, 1, string(kind)), 2, string(raw)))
}

// TestFailuresAreJudged checks that a failure gets the outcome of its code only if a correct server
// sends that code, together with the Status that belongs to it. Every other failure must be
// Refused, which a run reports as a finding, and not Unknown, which it does not report.
func TestFailuresAreJudged(t *testing.T) {
	for name, c := range map[string]struct {
		code, contentType, body string
		want                    client.Outcome
		says                    string
	}{
		"404":                       {"404", client.JSON, failed(404, "NotFound"), client.NotFound, ""},
		"409 of a version":          {"409", client.JSON, failed(409, "Conflict"), client.Conflict, ""},
		"409 of a name":             {"409", client.JSON, failed(409, "AlreadyExists"), client.Conflict, ""},
		"410":                       {"410", client.JSON, failed(410, "Expired"), client.Expired, ""},
		"429":                       {"429", client.JSON, failed(429, "TooManyRequests"), client.Unavailable, ""},
		"503":                       {"503", "application/json; charset=utf-8", failed(503, "ServiceUnavailable"), client.Unavailable, ""},
		"504":                       {"504", client.JSON, failed(504, "Timeout"), client.Unknown, ""},
		"507":                       {"507", client.JSON, failed(507, "InsufficientStorage"), client.Unavailable, ""},
		"503 in protobuf":           {"503", client.Protobuf, failedProtobuf(503, "ServiceUnavailable"), client.Unavailable, ""},
		"500":                       {"500", client.JSON, failed(500, "InternalError"), client.Refused, "does not answer 500"},
		"501":                       {"501", client.JSON, failed(501, "NotImplemented"), client.Refused, "does not answer 501"},
		"502 of a proxy":            {"502", "text/html", "<html>", client.Refused, "does not answer 502"},
		"505":                       {"505", client.JSON, "", client.Refused, "does not answer 505"},
		"403":                       {"403", client.JSON, failed(403, "Forbidden"), client.Refused, "does not answer 403"},
		"503 without a body":        {"503", client.JSON, "", client.Refused, "no Status"},
		"503 in plain text":         {"503", "text/plain", "unavailable", client.Refused, "content type"},
		"503 of another reason":     {"503", client.JSON, failed(503, "Timeout"), client.Refused, "reason"},
		"503 without a reason":      {"503", client.JSON, failed(503, ""), client.Refused, "reason"},
		"503 whose Status says 504": {"503", client.JSON, failed(504, "Timeout"), client.Refused, "code 504"},
		"503 with an object":        {"503", client.JSON, stored, client.Refused, "want a Status"},
		"504 called a success":      {"504", client.JSON, strings.Replace(failed(504, "Timeout"), "Failure", "Success", 1), client.Refused, "want a Status"},
		"504 without a message":     {"504", client.JSON, strings.Replace(failed(504, "Timeout"), `"m"`, `""`, 1), client.Refused, "no message"},
		"404 without a Status":      {"404", client.JSON, "{}", client.Refused, "want a Status"},
		"protobuf that is JSON":     {"503", client.Protobuf, failed(503, "ServiceUnavailable"), client.Refused, "no envelope"},
		"protobuf cut short":        {"503", client.Protobuf, failedProtobuf(503, "ServiceUnavailable")[:20], client.Refused, "no Status"},
		"protobuf, another reason":  {"503", client.Protobuf, failedProtobuf(503, "Timeout"), client.Refused, "reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, func(w *wire) {
				stream := w.request(true)
				w.beginAs(stream, c.code, c.contentType, c.body)
				_ = w.WriteData(stream, true, nil)
				w.drain()
			})
			_, outcome, err := create(t, p.client())
			if outcome != c.want || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: %v; want %v and %q", outcome, err, c.want, c.says)
			}
		})
	}
}
