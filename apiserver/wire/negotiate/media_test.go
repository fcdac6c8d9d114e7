package negotiate_test

import (
	"testing"

	"quorate/apiserver/wire/negotiate"
)

// The media types of OpenAPI documents are not forms of this package (L16, L18).
func TestMedia(t *testing.T) {
	t.Parallel()
	const (
		binary = "application/com.example@v1.0+protobuf"
		none   = -1
	)
	for _, tc := range []struct {
		accept string
		want   int
	}{
		{"", 0},
		{"*/*", 0},
		{"application/json", 0},
		{"application/*", 0},
		{binary, 2},
		{binary + ", application/json", 2},
		{"application/json;q=0.5, " + binary, 2},
		{binary + ";q=0.5, application/json", 0},
		{"text/html, application/yaml;q=0.9, */*;q=0.8", 1},
		{"application/json;q=0, */*", 1},
		{"application/json;as=Table;v=v1;g=meta.k8s.io, application/yaml", 1},
		{"application/json;as=Table;v=v1;g=meta.k8s.io;q=0, application/json", 0}, // refuses the Table alone
		{"text/html", none},
		{binary + ";q=0", none},
		{"application/json;as=Table;v=v1;g=meta.k8s.io", none},
	} {
		got, err := negotiate.Media(request("Accept: "+tc.accept), "application/json", "application/yaml", binary)
		if err != nil {
			got = none
		}
		if got != tc.want {
			t.Errorf("%q: %d (%v), want %d", tc.accept, got, err, tc.want)
		}
	}
}
