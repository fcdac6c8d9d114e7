package schema

import (
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// decode decodes a body and fails the test on any error. Problems such as unknown fields are
// ignored.
func decode(t testing.TB, k *Kind, body string) *Object {
	t.Helper()
	o, _, err := k.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func itoa(n int) string { return strconv.Itoa(n) }

func mustQuantity(t testing.TB, s string) string {
	t.Helper()
	q, err := resource.ParseQuantity(s)
	if err != nil {
		t.Fatal(err)
	}
	return quantityText(q)
}

// restore converts a stored object to the form of a kind.
func restore(t testing.TB, k *Kind, stored *Object) *Object {
	t.Helper()
	o, err := k.FromStorage(stored)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
