package validation

import (
	"encoding/base64"
	"strings"

	"quorate/apiserver/objects/schema"
)

func configMapRows() []row {
	body := func(more ...string) string { return named(members(more...)) }
	sealed := body(`"immutable":true`, `"data":{"a":"1"}`, `"binaryData":{"b":"YQ=="}`)
	const forbidden = ": Forbidden: field is immutable when `immutable` is set"
	text := strings.Repeat("x", maxConfigMapBytes-3)
	bytes := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	return []row{
		{name: "text and bytes", kind: "configmaps", body: body(`"data":{"a":"1"}`, `"binaryData":{"b":"AP8="}`),
			want: map[string]string{"binaryData": `{"b":"AP8="}`}},
		{name: "one key twice", kind: "configmaps", body: body(`"data":{"a":"1","c":""}`, `"binaryData":{"a":"AP8="}`),
			errs: []string{`data[a]: Invalid value: "a": duplicate of key present in binaryData`}},
		{name: "a bad key of bytes", kind: "configmaps", body: body(`"binaryData":{"/":"YQ=="}`),
			errs: []string{`binaryData[/]: Invalid value: "/": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`}},
		{name: "as large as both may be", kind: "configmaps", body: body(`"data":{"a":"`+text+`"}`, `"binaryData":{"b":"`+bytes(3)+`"}`)},
		{name: "too large together", kind: "configmaps", body: body(`"data":{"a":"`+text+`"}`, `"binaryData":{"b":"`+bytes(4)+`"}`),
			errs: []string{"binaryData: Too long: may not be more than 1048576 bytes"}},
		{name: "not sealed yet", kind: "configmaps", op: schema.Update, old: body(`"data":{"a":"1"}`), body: body(`"immutable":true`)},
		{name: "sealed text", kind: "configmaps", op: schema.Update, old: sealed,
			body: body(`"immutable":true`, `"data":{"a":"2"}`, `"binaryData":{"b":"YQ=="}`), errs: []string{"data" + forbidden}},
		{name: "sealed bytes", kind: "configmaps", op: schema.Update, old: sealed,
			body: body(`"immutable":true`, `"data":{"a":"1"}`), errs: []string{"binaryData" + forbidden}},
		{name: "unsealed", kind: "configmaps", op: schema.Update, old: sealed, body: body(`"data":{"a":"1"}`, `"binaryData":{"b":"YQ=="}`),
			errs: []string{"immutable" + forbidden}},
		{name: "sealed as it was", kind: "configmaps", op: schema.Update, old: sealed, body: sealed},
	}
}
