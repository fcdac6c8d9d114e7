package schedule

import (
	"net/url"
	"reflect"
	"testing"
)

func TestParseDestination(t *testing.T) {
	t.Parallel()
	at := func(scheme, host, bucket, prefix string) Destination {
		return Destination{Endpoint: &url.URL{Scheme: scheme, Host: host}, Bucket: bucket, Prefix: prefix}
	}
	for text, want := range map[string]Destination{
		"/mnt/backups":                 {Directory: "/mnt/backups"},
		"s3":                           {Directory: "s3"},
		"s3:https://h/b":               at("https", "h", "b", ""),
		"s3:https://h:9000/b/":         at("https", "h:9000", "b", ""),
		"s3:https://h/b/of/all":        at("https", "h", "b", "of/all"),
		"s3:http://127.0.0.1:9000/b/p": at("http", "127.0.0.1:9000", "b", "p"),
		"s3:http://[::1]:9000/b":       at("http", "[::1]:9000", "b", ""),
		"s3:http://localhost/b":        at("http", "localhost", "b", ""),
	} {
		if got, err := ParseDestination(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"https://h/b", "s3://b/p", "s3:b", "s3:https://h", "s3:https://h/", "s3:https:///b", "s3:ftp://h/b", "s3:https://h/b?x=y",
		"s3:https://h/b#x", "s3:http://10.0.0.1/b", "s3:http://localhost.example/b", "s3:https://u:p@h/b", "s3:https://h:x/b", "s3:",
	} {
		if got, err := ParseDestination(text); err == nil {
			t.Errorf("%s: got %+v, want an error", text, got)
		}
	}
}
