package patch_test

import (
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/patch"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/wire/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// catalog is compiled once. It is immutable.
var catalog = sync.OnceValues(func() (*schema.Catalog, error) { return schema.Load(kinds.Files, validation.Hooks()) })

func kind(tb testing.TB, prefix, plural string) *schema.Kind {
	tb.Helper()
	c, err := catalog()
	if err != nil {
		tb.Fatal(err)
	}
	k := c.Kind(prefix, plural)
	if k == nil {
		tb.Fatalf("no kind %s/%s", prefix, plural)
	}
	return k
}

// apply parses and applies a patch.
func apply(k *schema.Kind, t patch.Type, document, body string) (string, error) {
	p, err := patch.Parse(t, []byte(body))
	if err != nil {
		return "", err
	}
	out, err := p.Apply(k, []byte(document))
	return string(out), err
}

// requireCode fails the test unless err is a status.Error with a code.
func requireCode(t *testing.T, code int, err error) *status.Error {
	t.Helper()
	failed, ok := errors.AsType[*status.Error](err)
	if !ok {
		t.Fatalf("no status.Error but %v", err)
	}
	if failed.Status.Code != code {
		t.Fatalf("code %d, not %d: %s", failed.Status.Code, code, failed.Status.JSON())
	}
	return failed
}
