package reference_test

import (
	"bytes"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"quorate/apiserver/objects/schema"
)

// TestManagedFields: the entries are, in JSON and protobuf, those that stock types write.
func TestManagedFields(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2018, 1, 2, 3, 4, 5, 0, time.UTC))
	first := metav1.ManagedFieldsEntry{
		Manager: "m", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", Subresource: "status",
		FieldsV1: metav1.NewFieldsV1(`{"f:data":{".":{},"f:k":{}}}`),
	}
	second := metav1.ManagedFieldsEntry{Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{}`)}
	stock := metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{first, second}}
	binary, err := stock.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	k := catalog(t).Kind("/api/v1", "configmaps")
	o, problems, err := k.DecodeProtobuf(append([]byte{1<<3 | 2, byte(len(binary))}, binary...))
	if err != nil || len(problems.List()) > 0 {
		t.Fatal(err, problems.List())
	}
	const want = `"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2018-01-02T03:04:05Z","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:data":{".":{},"f:k":{}}},"subresource":"status"},{"operation":"Update","fieldsV1":{}}]`
	if got := o.AppendJSON(nil); !bytes.Contains(got, []byte(want)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	again, problems, err := k.Decode(o.AppendJSON(nil))
	if err != nil || len(problems.List()) > 0 || !schema.Equal(again.Root(), o.Root()) {
		t.Errorf("%v %v: %s", err, problems.List(), again.AppendJSON(nil))
	}
	entries, err := first.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(again.AppendProtobuf(nil), entries) {
		t.Errorf("an entry has other bytes: %q", again.AppendProtobuf(nil))
	}
}
