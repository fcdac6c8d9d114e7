package status_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/wire/status"
)

// An object may have more errors than a response can list.
func TestInvalidIsBounded_A45(t *testing.T) {
	t.Parallel()
	list := field.NewPath("spec", "items")
	for name, tc := range map[string]struct{ errors, size, told int }{
		"few": {999, 10, 999}, "many": {100_000, 10, 1000}, "long": {100, 64 << 10, 3}, "one that is long": {1, 1 << 20, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var errs field.ErrorList
			for i := range tc.errors {
				errs = append(errs, field.Required(list.Index(i), strings.Repeat("x", tc.size)))
			}
			s := status.NewInvalid(status.Subject{Kind: "Thing", Name: "a"}, errs).Status
			if got := len(s.Details.Causes); got != tc.told {
				t.Errorf("%d causes, not %d", got, tc.told)
			}
			if more := strings.HasSuffix(s.Message, " more errors]"); more != (tc.told < tc.errors) {
				t.Errorf("message ends with %s", s.Message[len(s.Message)-40:])
			}
		})
	}
}
