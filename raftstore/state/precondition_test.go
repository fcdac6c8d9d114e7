package state

import (
	"reflect"
	"testing"
)

func TestPrecondition(t *testing.T) {
	k, guard := NewKey("pods", "a", "x"), NewKey("namespaces", "", "a")
	stored := map[Key]*Object{k: {Key: k, Version: 5, UID: "u"}}
	guarded := func(sealed bool, objects map[Key]*Object) map[Key]*Object {
		with := map[Key]*Object{guard: {Key: guard, Version: 1, Sealed: sealed}}
		for k, o := range objects {
			with[k] = o
		}
		return with
	}
	for name, c := range map[string]struct {
		p       Precondition
		objects map[Key]*Object
		want    error
	}{
		"create":                      {Precondition{Key: k, Creates: true}, nil, nil},
		"create, key taken":           {Precondition{Key: k, Creates: true}, stored, &Exists{Key: k}},
		"create, guarded":             {Precondition{Key: k, Creates: true, Guard: guard}, guarded(false, nil), nil},
		"create, guard missing":       {Precondition{Key: k, Creates: true, Guard: guard}, nil, &GuardFailed{Guard: guard}},
		"create, guard sealed":        {Precondition{Key: k, Creates: true, Guard: guard}, guarded(true, nil), &GuardFailed{Guard: guard, Sealed: true}},
		"create, guard before key":    {Precondition{Key: k, Creates: true, Guard: guard}, guarded(true, stored), &GuardFailed{Guard: guard, Sealed: true}},
		"replace":                     {Precondition{Key: k, Version: 5, UID: "u"}, stored, nil},
		"replace, any uid":            {Precondition{Key: k, Version: 5}, stored, nil},
		"replace, missing":            {Precondition{Key: k, Version: 5}, nil, &NotFound{Key: k}},
		"replace, other version":      {Precondition{Key: k, Version: 4}, stored, &Conflict{Key: k, Want: 4, Have: 5}},
		"replace, other uid":          {Precondition{Key: k, Version: 5, UID: "v"}, stored, &UIDMismatch{Key: k, Want: "v", Have: "u"}},
		"replace, uid before version": {Precondition{Key: k, Version: 4, UID: "v"}, stored, &UIDMismatch{Key: k, Want: "v", Have: "u"}},
	} {
		t.Run(name, func(t *testing.T) {
			tree := NewTree()
			for _, o := range c.objects {
				tree.Set(o)
			}
			have, err := c.p.Check(tree)
			if !reflect.DeepEqual(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if replaces := err == nil && !c.p.Creates; (have != nil) != replaces || replaces && have != c.objects[k] {
				t.Errorf("got %v", have)
			}
			if _, err := c.p.Check(tree.Publish()); !reflect.DeepEqual(err, c.want) {
				t.Errorf("the published state gives %v, want %v", err, c.want)
			}
		})
	}
}
