package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// texts returns the texts of errors.
func texts(errs field.ErrorList) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

func TestValidateMeta(t *testing.T) {
	cat := engine(t)
	core := func(plural string) *Kind { return cat.Kind("/api/v1", plural) }
	const meta = `{"metadata":{"namespace":"ns",%s}}`
	for _, tc := range []struct {
		name string
		kind *Kind
		meta string
		want []string
	}{
		{"no_name_A14", core("configmaps"), `"labels":{}`, []string{`metadata.name: Required value: name or generateName is required`}},
		{"bad_name_A15", core("configmaps"), `"name":"A_b"`, []string{
			`metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		{"bad_generateName_A15", core("configmaps"), `"name":"x","generateName":"-"`, []string{
			`metadata.generateName: Invalid value: "-": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
		{"generateName_with_dash_A11", core("configmaps"), `"name":"x","generateName":"web-"`, nil},
		{"namespace_names_are_labels_A16", core("namespaces"), `"name":"a.b"`, []string{
			`metadata.namespace: Forbidden: not allowed on this type`,
			`metadata.name: Invalid value: "a.b": must not contain dots`}},
		{"cronjob_names_end_at_52_A18", cat.Kind("/apis/batch/v1beta1", "cronjobs"), `"name":"` + strings.Repeat("a", 53) + `"`, []string{
			`metadata.name: Invalid value: "` + strings.Repeat("a", 53) + `": must be no more than 52 characters`}},
		{"roles_have_path_segment_names_A19", cat.Kind("/apis/rbac.authorization.platform.io/v1", "roles"), `"name":"system:a%b/c"`, []string{
			`metadata.name: Invalid value: "system:a%b/c": may not contain '/'`, `metadata.name: Invalid value: "system:a%b/c": may not contain '%'`}},
		{"labels_A20", core("configmaps"), `"name":"x","labels":{"a/b/c":"v","ok/k":"_"}`, []string{
			`metadata.labels: Invalid value: "a/b/c": a valid label key must consist of`, `metadata.labels: Invalid value: "_": a valid label must be an empty string or`}},
		{"annotation_keys_in_any_case_A21", core("configmaps"), `"name":"x","annotations":{"Example.COM/Key":"anything: at all"}`, nil},
		{"annotations_A21", core("configmaps"), `"name":"x","annotations":{"a b":"` + strings.Repeat("x", 256<<10) + `"}`, []string{
			`metadata.annotations: Invalid value: "a b": `, `metadata.annotations: Too long: may not be more than 262144 bytes`}},
		{"finalizers_A22", core("configmaps"), `"name":"x","finalizers":["a.b/c","mine","orphan","foregroundDeletion","platform","a b"]`, []string{
			`metadata.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`,
			`metadata.finalizers: Invalid value: "a b": `,
			`metadata.finalizers: Invalid value: ["a.b/c","mine","orphan","foregroundDeletion","platform","a b"]: finalizer orphan and foregroundDeletion cannot be both set`}},
		{"owners_A23", core("configmaps"), `"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"e","uid":"1","controller":true},{"apiVersion":"a/b/c","controller":true}]`, []string{
			`metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1"`,
			`metadata.ownerReferences[1].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>`,
			`metadata.ownerReferences[1].kind: Required value: must not be empty`,
			`metadata.ownerReferences[1].name: Required value: must not be empty`,
			`metadata.ownerReferences[1].uid: Required value: must not be empty`,
			`metadata.ownerReferences: Invalid value: [`}},
		{"initializers_A30", core("configmaps"), `"name":"x","initializers":{"pending":[{"name":"a.b.c"},{"name":"a.b"},{}],"result":{"status":"Success"}}`, []string{
			`metadata.initializers.pending[1].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`,
			`metadata.initializers.pending[2].name: Required value`,
			`metadata.initializers.result.status: Invalid value: "Success": must be "Failure"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := decode(t, tc.kind, fmt.Sprintf(meta, tc.meta))
			c := newContext(tc.kind, Create, o, nil)
			c.checkMeta()
			wantBegins(t, texts(c.errs), tc.want)
		})
	}
}

// wantBegins checks that each text has a wanted prefix, in any order.
func wantBegins(t *testing.T, got, want []string) {
	t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if len(got) != len(want) {
		t.Fatalf("got %q\nwant %q", got, want)
	}
	for i := range got {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got  %.300s\nwant %s", got[i], want[i])
		}
	}
}

func TestValidateMetaUpdate(t *testing.T) {
	k := engine(t).Kind("/api/v1", "configmaps")
	old := decode(t, k, `{"metadata":{"name":"a","namespace":"n","uid":"1","finalizers":["a/b"]}}`)
	old.SetCreationTimestamp(time.Unix(100, 0))
	old.SetDeletion(time.Unix(200, 0), 30)
	old.SetSelfLink("/self")
	t.Run("server_fields_are_kept_E6_E13", func(t *testing.T) {
		o := decode(t, k, `{"metadata":{"name":"a","namespace":"n","resourceVersion":"7","generation":9,"deletionTimestamp":null,"clusterName":"c"}}`)
		k.PrepareUpdate(Update, o, old)
		if errs := k.ValidateUpdate(Update, o, old); len(errs) > 0 {
			t.Fatal(errs)
		}
		want := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","selfLink":"/self","uid":"1","resourceVersion":"7",` +
			`"creationTimestamp":"1970-01-01T00:01:40Z","deletionTimestamp":"1970-01-01T00:03:20Z","deletionGracePeriodSeconds":30}}`
		if got := string(o.AppendJSON(nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("finalizers_cannot_be_added_E15", func(t *testing.T) {
		o := decode(t, k, `{"metadata":{"name":"a","namespace":"n","finalizers":["a/b","c/d"]}}`)
		k.PrepareUpdate(Update, o, old)
		wantBegins(t, texts(k.ValidateUpdate(Update, o, old)), []string{
			`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/d"}`})
	})
	t.Run("finalizers_cannot_be_replaced_E15", func(t *testing.T) {
		o := decode(t, k, `{"metadata":{"name":"a","namespace":"n","finalizers":["c/d"]}}`)
		k.PrepareUpdate(Update, o, old)
		wantBegins(t, texts(k.ValidateUpdate(Update, o, old)), []string{
			`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/d"}`})
	})
	t.Run("name_and_uid_are_immutable_E21", func(t *testing.T) {
		o := decode(t, k, `{"metadata":{"name":"b","namespace":"n","uid":"2"}}`)
		k.PrepareUpdate(Update, o, old)
		wantBegins(t, texts(k.ValidateUpdate(Update, o, old)), []string{
			`metadata.name: Invalid value: "b": field is immutable`, `metadata.uid: Invalid value: "2": field is immutable`})
	})
}

func TestValidateFields(t *testing.T) {
	cat := engine(t)
	for _, tc := range []struct {
		name, prefix, plural, body string
		want                       []string
	}{
		{"required_I19", "/api/v1", "pods", `"spec":{"containers":[{}]}`, []string{
			"spec.containers[0].name: Required value", "spec.containers[0].image: Required value"}},
		{"missing_message_reports_what_misses_in_it", "/api/v1", "pods", `"spec":{}`, []string{"spec.containers: Required value"}},
		{"missing_spec", "/api/v1", "pods", `"spec":null`, []string{"spec.containers: Required value"}},
		{"enum_I19", "/api/v1", "pods", `"spec":{"restartPolicy":"Maybe","containers":[{"name":"a","image":"b"}]}`, []string{
			`spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"`}},
		{"port_M31", "/api/v1", "pods", `"spec":{"containers":[{"name":"a","image":"b","ports":[{"containerPort":70000,"hostPort":-1},{"containerPort":0,"name":"-"}]}]}`, []string{
			"spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 0 and 65535, inclusive",
			"spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
			`spec.containers[0].ports[1].name: Invalid value: "-": must contain at least one letter (a-z)`,
			`spec.containers[0].ports[1].name: Invalid value: "-": must not begin or end with a hyphen`,
			"spec.containers[0].ports[1].containerPort: Required value"}},
		{"intOrString_port", "/api/v1", "pods", `"spec":{"containers":[{"name":"a","image":"b","livenessProbe":{"httpGet":{"port":99999}},"readinessProbe":{"tcpSocket":{"port":"NO"}}}]}`, []string{
			"spec.containers[0].livenessProbe.httpGet.port: Invalid value: 99999: must be between 1 and 65535, inclusive",
			`spec.containers[0].readinessProbe.tcpSocket.port: Invalid value: "NO": must contain only alpha-numeric characters`,
			`spec.containers[0].readinessProbe.tcpSocket.port: Invalid value: "NO": must contain at least one letter`}},
		{"pointer_zero_is_checked", "/apis/autoscaling/v2beta1", "horizontalpodautoscalers", `"spec":{"minReplicas":0,"maxReplicas":1,"scaleTargetRef":{"kind":"K","name":"n"}}`, []string{
			"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"}},
		{"configmap_keys_M18", "/api/v1", "configmaps", `"data":{"a b":"","..x":"",".ok":""}`, []string{
			`data[..x]: Invalid value: "..x": must not start with '..'`,
			`data[a b]: Invalid value: "a b": a valid config key must consist of`}},
		{"configmap_size_M18", "/api/v1", "configmaps", `"data":{"a":"` + strings.Repeat("x", 1<<20) + `"}`, nil},
		{"configmap_too_long_M18", "/api/v1", "configmaps", `"data":{"a":"` + strings.Repeat("x", 1<<20) + `","b":"y"}`, []string{
			"data: Too long: may not be more than 1048576 bytes"}},
		{"quantities_M25", "/api/v1", "nodes", `"status":{"capacity":{"cpu":"-1","strange":"1"}}`, []string{
			`status.capacity[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
			`status.capacity[strange]: Invalid value: "strange": must be a standard resource type or fully qualified`}},
		{"items_M27", "/oapi/v1", "hostsubnets", `"host":"h","hostIP":"1.2.3.4","subnet":"10.0.0.0/24","egressIPs":["1.1.1.1","::1"]`, []string{
			`egressIPs[1]: Invalid value: "::1": must be a valid IPv4 address`}},
		{"cidr_M26", "/apis/network.platform.io/v1", "clusternetworks", `"network":"10.1.2.3/8","hostsubnetlength":1,"serviceNetwork":"172.30.0.0/16"`, []string{
			`network: Invalid value: "10.1.2.3/8": must be a valid IPv4 network`, "hostsubnetlength: Invalid value: 1: must be greater than or equal to 2"}},
		{"schedule_M23", "/apis/batch/v1beta1", "cronjobs", `"spec":{"schedule":"often","jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b"}],"restartPolicy":"Never"}}}}}`, []string{
			`spec.schedule: Invalid value: "often": expected exactly 5 fields, found 1`}},
		{"embedded_labels", "/apis/apps/v1beta2", "daemonsets", `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"name":"NOT/checked","labels":{"a":"b c"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}`, []string{
			`spec.template.metadata.labels: Invalid value: "b c": a valid label must be an empty string or`}},
		{"required_pointer_message", "/apis/apps/v1beta2", "daemonsets", `"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}}`, []string{
			"spec.selector: Required value"}},
		{"access_modes_M12", "/api/v1", "persistentvolumes", `"spec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce","Sometimes"]}`, []string{
			`spec.accessModes[1]: Unsupported value: "Sometimes": supported values: "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"`}},
		{"image_reference_M28", "/apis/image.platform.io/v1", "images", `"containerImageReference":"Not A Ref"`, []string{
			`containerImageReference: Invalid value: "Not A Ref": not a valid image reference`}},
		{"rules_M29", "/apis/rbac.authorization.platform.io/v1beta1", "clusterroles", `"rules":[{"apiGroups":[""],"resources":["pods"]}]`, []string{
			"rules[0].verbs: Required value"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := cat.Kind(tc.prefix, tc.plural)
			ns := ""
			if k.Namespaced {
				ns = `"namespace":"n",`
			}
			o := decode(t, k, `{"metadata":{`+ns+`"name":"x"},`+tc.body+`}`)
			k.PrepareCreate(o)
			wantBegins(t, texts(k.ValidateCreate(o)), tc.want)
		})
	}
}

// TestDefaultsAreCopied checks that changing a default value in one object does not change
// it in others.
func TestDefaultsAreCopied(t *testing.T) {
	k := engine(t).Kind("/api/v1", "pods")
	for range 2 {
		o := decode(t, k, `{"metadata":{"name":"x","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		k.Default(o)
		policy := o.Root().Lookup("spec", "restartPolicy")
		if policy.Str() != "Always" {
			t.Fatalf("restartPolicy is %q by default", policy.Str())
		}
		policy.SetStr("Never")
	}
}

func TestImmutable(t *testing.T) {
	cat, err := load(files(t, map[string]string{"widget.yaml": strings.NewReplacer("max: 9", "immutable: true",
		"type: bool", "type: bool, pointer: true, immutable: true").Replace(widget)}), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := cat.Kind("/apis/example.io/v1", "widgets")
	body := func(spec string) *Object {
		return decode(t, k, `{"metadata":{"name":"x","namespace":"n"},"spec":{`+spec+`}}`)
	}
	old := body("")
	k.Default(old)
	for _, tc := range []struct {
		name, spec string
		want       []string
	}{
		{"equal_by_default_M35", `"size":3`, nil},
		{"mutable", `"ratio":7`, nil},
		{"changed_E21", `"size":4`, []string{"spec.size: Invalid value: 4: field is immutable"}},
		{"set_where_it_was_unset_E21", `"on":false`, []string{"spec.on: Invalid value: false: field is immutable"}},
		{"items_of_lists_are_not_paired", `"parts":[{"size":5}]`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := body(tc.spec)
			k.PrepareUpdate(Update, o, old)
			wantBegins(t, texts(k.ValidateUpdate(Update, o, old)), tc.want)
		})
	}
}

func TestGeneration(t *testing.T) {
	k := engine(t).Kind("/apis/apps/v1beta2", "statefulsets")
	o := decode(t, k, `{"metadata":{"name":"x","generation":9},"spec":{"serviceName":"a"}}`)
	k.PrepareCreate(o)
	if o.Generation() != 1 {
		t.Errorf("A26: got %d", o.Generation())
	}
	same := decode(t, k, `{"metadata":{"name":"x","labels":{"a":"b"}},"spec":{"serviceName":"a","replicas":1},"status":{"replicas":4}}`)
	k.PrepareUpdate(Update, same, o)
	if same.Generation() != 1 {
		t.Errorf("E19: metadata and status count: %d", same.Generation())
	}
	changed := decode(t, k, `{"metadata":{"name":"x"},"spec":{"serviceName":"a","replicas":2}}`)
	k.PrepareUpdate(Update, changed, o)
	if changed.Generation() != 2 {
		t.Errorf("E19: got %d", changed.Generation())
	}
}

func TestDuplicateOwners(t *testing.T) {
	k := engine(t).Kind("/api/v1", "configmaps")
	o := decode(t, k, `{"metadata":{"ownerReferences":[{"uid":"a","name":"1"},{"uid":"b"},{"uid":"a","name":"2"},{"uid":"a"},{"uid":""},{"uid":""}]}}`)
	if got := o.DuplicateOwners(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("A23: got %q", got)
	}
	k.PrepareCreate(o)
	if n := o.OwnerReferences().Len(); n != 4 || o.OwnerReferences().At(0).Field("name").Str() != "1" || o.DuplicateOwners() != nil {
		t.Errorf("A23: %d left: %s", n, o.AppendJSON(nil))
	}
}
