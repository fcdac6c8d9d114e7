package specification

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
)

// The files of rows share these helpers, in the order in which a row uses them:
//
//	ns := namespace(t, s)                         a namespace of the row's own
//	pod := create(t, s, "Pod", ns, "p", `{…}`)    a valid object, changed by a merge patch, as
//	                                              it is stored
//	minimal("Pod", ns, "p", …)                    the same, not sent
//	collection("Pod", ns), item("Pod", ns, "p"),
//	watchPath("Pod", ns)                          paths
//	s.Do("PUT", item(…), body, "Accept: …")       a request as the administrator
//	body := ok(t, s.Do(…))                        200, and its body
//	expect(t, s.Do(…), 422, "Invalid", "spec")    a failure, and texts that its body contains
//	st := refusal(t, s.Do(…), 422, "Invalid")     the same, decoded
//	get(t, body, "spec.containers.0.name")        a member as text, "" if it is missing; `\.` is
//	                                              a dot in a name
//	names(t, list)                                the names of a list's items
//	w := watch(t, s, path)
//	w.want("ADDED p", "DELETED p")                events, for which it waits up to streamTime

// streamTime bounds how long a row waits for the events of a stream.
const streamTime = time.Minute

// ok expects 200 and returns the body.
func ok(t *testing.T, a testserver.Answer) string {
	t.Helper()
	if !a.OK() {
		t.Fatalf("code %d, want 200: %s", a.Code, a.Body)
	}
	return a.Body
}

// refused is the Status of a failure.
type refused struct {
	Kind, APIVersion, Status, Reason, Message string
	Code                                      int
	Details                                   *refusedDetails
}

type refusedDetails struct {
	Name, Group, Kind, UID string
	RetryAfterSeconds      int
	Causes                 []refusedCause
}

type refusedCause struct{ Reason, Message, Field string }

// refusal expects a Status of a failure and returns it.
func refusal(t *testing.T, a testserver.Answer, code int, reason string) refused {
	t.Helper()
	if a.Code != code {
		t.Fatalf("code %d, want %d: %s", a.Code, code, a.Body)
	}
	var st refused
	if err := json.Unmarshal([]byte(a.Body), &st); err != nil {
		t.Fatalf("not a Status: %v: %s", err, a.Body)
	}
	if st.Kind != "Status" || st.APIVersion != "v1" || st.Status != "Failure" || st.Code != code {
		t.Errorf("not the Status of a failure: %s", a.Body)
	}
	if st.Reason != reason {
		t.Errorf("reason %q, want %q: %s", st.Reason, reason, a.Body)
	}
	return st
}

// expect expects a Status of a failure whose JSON holds all the texts; texts are written as they
// read, not escaped.
func expect(t *testing.T, a testserver.Answer, code int, reason string, texts ...string) {
	t.Helper()
	st := refusal(t, a, code, reason)
	said := st.Message
	if st.Details != nil {
		said += fmt.Sprintf("\n%+v", *st.Details)
	}
	for _, text := range texts {
		if !strings.Contains(said, text) && !strings.Contains(a.Body, text) {
			t.Errorf("%q is not in %s", text, a.Body)
		}
	}
}

// expectInvalid expects 422 with a cause at the field.
func expectInvalid(t *testing.T, a testserver.Answer, field, reason string, texts ...string) {
	t.Helper()
	for _, c := range refusal(t, a, http.StatusUnprocessableEntity, "Invalid").Details.Causes {
		if c.Field == field && c.Reason == reason && containsAll(c.Message, texts) {
			return
		}
	}
	t.Errorf("no cause %s at %s with %q: %s", reason, field, texts, a.Body)
}

func containsAll(s string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(s, text) {
			return false
		}
	}
	return true
}

// value is what is at a dotted path of a JSON text, nil if nothing is. Numbers index lists.
func value(t *testing.T, body, path string) any {
	t.Helper()
	v := parse(t, body)
	for name := range strings.SplitSeq(strings.ReplaceAll(path, `\.`, "\x00"), ".") {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[strings.ReplaceAll(name, "\x00", ".")]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

// get is value as text: strings and numbers as they are, all else as JSON with sorted keys, "" for
// nothing.
func get(t *testing.T, body, path string) string {
	t.Helper()
	switch v := value(t, body, path).(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// want expects the texts at the paths, given as path, text, path, text, ….
func want(t *testing.T, body string, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := get(t, body, pairs[i]); got != pairs[i+1] {
			t.Errorf("%s is %q, want %q: %s", pairs[i], got, pairs[i+1], body)
		}
	}
}

func parse(t *testing.T, body string) any {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return v
}

// version is an object's or list's resourceVersion.
func version(t *testing.T, body string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(get(t, body, "metadata.resourceVersion"), 10, 64)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return v
}

// names are the names of a list's items, or of a Table's rows.
func names(t *testing.T, list string) []string {
	t.Helper()
	path := "items.%d.metadata.name"
	items, isList := value(t, list, "items").([]any)
	if get(t, list, "kind") == "Table" {
		path = "rows.%d.object.metadata.name"
		items, isList = value(t, list, "rows").([]any)
	}
	if !isList {
		t.Fatalf("no items: %s", list)
	}
	found := []string{}
	for i := range items {
		found = append(found, get(t, list, fmt.Sprintf(path, i)))
	}
	return found
}

// nameOf is the name of an object, or of that in the row of a Table.
func nameOf(t *testing.T, object string) string {
	t.Helper()
	return get(t, object, "metadata.name") + get(t, object, "rows.0.object.metadata.name")
}

// namespace makes a namespace for a row and returns its name.
func namespace(t *testing.T, s *testserver.Server) string {
	t.Helper()
	return get(t, ok(t, s.Do("POST", "/api/v1/namespaces", `{"metadata":{"generateName":"row-"}}`)), "metadata.name")
}

// create stores an object made by minimal, and returns it as it is stored.
func create(t *testing.T, s *testserver.Server, kind, ns, name string, changes ...string) string {
	t.Helper()
	return ok(t, s.Do("POST", collection(kind, ns), minimal(kind, ns, name, changes...)))
}

// stream is an open watch.
type stream struct {
	t      *testing.T
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// watch opens a stream that ends with the test, or after streamTime.
func watch(t *testing.T, s *testserver.Server, path string, headers ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), streamTime)
	resp, err := s.Client.Do(s.Request("GET", path, "", headers...).WithContext(ctx))
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	w := &stream{t, resp, bufio.NewReader(resp.Body), cancel}
	t.Cleanup(w.close)
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("code %d: %s", resp.StatusCode, body)
	}
	return w
}

func (w *stream) close() {
	w.cancel()
	w.resp.Body.Close()
}

// next returns the next event as "TYPE name" and its object; "EOF" at the end.
func (w *stream) next() (event, object string) {
	w.t.Helper()
	line, err := w.lines.ReadString('\n')
	if errors.Is(err, io.EOF) && line == "" {
		return "EOF", ""
	}
	if err != nil {
		w.t.Fatalf("%v: %s", err, line)
	}
	var e struct {
		Type   string
		Object json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		w.t.Fatalf("%v: %s", err, line)
	}
	object = string(e.Object)
	return strings.TrimSpace(e.Type + " " + nameOf(w.t, object)), object
}

// want expects these events and returns the object of the last.
func (w *stream) want(events ...string) (object string) {
	w.t.Helper()
	for _, event := range events {
		var got string
		if got, object = w.next(); got != event {
			w.t.Fatalf("got %q, want %q: %s", got, event, object)
		}
	}
	return object
}
