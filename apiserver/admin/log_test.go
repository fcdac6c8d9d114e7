package admin

import (
	"testing"

	"quorate/apiserver/limit"
)

// TestReadsOfTheLogAreBounded: one read too many is refused, under the name of the bound, and the
// next is admitted once one of them has ended.
func TestReadsOfTheLogAreBounded(t *testing.T) {
	t.Parallel()
	h := logHandlers{reads: make(chan struct{}, maxLogReads)}
	var leave func()
	for range maxLogReads {
		var err error
		if leave, err = h.enter(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.enter(); limit.Of(err) != limit.LogReads {
		t.Errorf("one read too many: %v", err)
	}
	leave()
	if _, err := h.enter(); err != nil {
		t.Errorf("after the end of one: %v", err)
	}
}

func TestGroupOf(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string][2]string{
		"secrets":                 {"", "secrets"},
		"apps/deployments":        {"apps", "deployments"},
		"example.com/widgets/uid": {"example.com", "widgets"},
	} {
		if group, plural := groupOf(resource); group != want[0] || plural != want[1] {
			t.Errorf("%s: group %q, plural %q", resource, group, plural)
		}
	}
}
