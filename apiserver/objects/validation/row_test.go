package validation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quorate/apiserver/objects/schema"
)

// row is one request and its expected result.
type row struct {
	name string // the behaviour, with the row of semantics.md if there is one
	kind string // the plural of a stored kind, or a key of otherRoutes
	op   schema.Operation
	old  string // the body from which the stored object was created, for operations other than Create
	body string
	// status is the body of a status write to the stored object before the request.
	status string
	// going means that the stored object is being deleted.
	going bool

	errs []string          // all expected errors, in order
	want map[string]string // expected JSON by path; "" if the field is expected to be unset
}

// family is the set of rows of one test.
type family struct {
	name string
	rows []row
}

func rowFamilies() []family {
	return []family{
		{"Metadata", metadataRows()}, {"Namespace", namespaceRows()}, {"Pod", podRows()}, {"PodUpdate", podUpdateRows()},
		{"PodSpec", podSpecRows()}, {"Container", containerRows()}, {"Env", envRows()}, {"Probe", probeRows()},
		{"Scheduling", schedulingRows()}, {"Volume", volumeRows()}, {"VolumeSource", volumeSourceRows()},
		{"PersistentVolume", persistentVolumeRows()}, {"Node", nodeRows()}, {"Endpoints", endpointsRows()},
		{"Event", eventRows()}, {"Rbac", rbacRows()}, {"LegacyBinding", legacyBindingRows()}, {"Autoscaler", autoscalerRows()},
		{"DaemonSet", daemonSetRows()}, {"StatefulSet", statefulSetRows()}, {"CronJob", cronJobRows()},
		{"Network", networkRows()}, {"Image", imageRows()}, {"Signature", signatureRows()}, {"OAuthClient", oauthClientRows()},
		{"ThirdParty", thirdPartyRows()}, {"Definition", definitionRows()}, {"Review", reviewRows()},
		{"Autoscaler v1", oldAutoscalerRows()}, {"Autoscaler v2", newAutoscalerRows()}, {"Reported event", reportedEventRows()},
		{"Deployment", deploymentRows()}, {"Template of today", templateTodayRows()}, {"Job", jobRows()}, {"Ingress", ingressRows()}, {"Claim", claimRows()},
		{"ConfigMap", configMapRows()}, {"Secret", secretRows()}, {"Lease", leaseRows()}, {"Service", serviceRows()},
		{"Webhook", webhookRows()}, {"ReplicationController", replicationControllerRows()},
	}
}

// otherRoutes maps names of kinds that rows use instead of plurals: to prefix and plural, or to
// apiVersion and kind for kinds that are never stored.
func otherRoutes() map[string][2]string {
	return map[string][2]string{
		"oldautoscalers": {"/apis/autoscaling/v1", "horizontalpodautoscalers"},
		"newautoscalers": {"/apis/autoscaling/v2", "horizontalpodautoscalers"},
		"reportedevents": {"/apis/events.k8s.io/v1", "events"},
		"legacybindings": {"/oapi/v1", "clusterrolebindings"},
		"selfreviews":    {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
		"reviews":        {"authorization.k8s.io/v1", "SubjectAccessReview"},
	}
}

// kindOf returns the kind that a row names, or nil.
func kindOf(cat *schema.Catalog, name string) *schema.Kind {
	if route, ok := otherRoutes()[name]; ok {
		if k := cat.Kind(route[0], route[1]); k != nil {
			return k
		}
		return cat.Unstored(route[0], route[1])
	}
	for _, k := range cat.Kinds() {
		if k.Plural == name && k.Storage() == k {
			return k
		}
	}
	return nil
}

// run executes the request and returns how its result differs from the expected one, or "".
func (r *row) run(cat *schema.Catalog) string {
	k := kindOf(cat, r.kind)
	old, err := r.stored(k)
	if err != nil {
		return err.Error()
	}
	o, errs, err := write(k, r.op, r.body, old)
	if err != nil {
		return err.Error()
	}
	if !slices.Equal(errs, r.errs) {
		return fmt.Sprintf("refused:\n  %s\nwant:\n  %s", strings.Join(errs, "\n  "), strings.Join(r.errs, "\n  "))
	}
	if len(errs) > 0 {
		return ""
	}
	if o, err = reread(k, o); err != nil {
		return err.Error()
	}
	return differences(o, r.want)
}

// stored returns the stored object before the request, or nil for Create.
func (r *row) stored(k *schema.Kind) (*schema.Object, error) {
	if r.op == schema.Create {
		return nil, nil
	}
	o, errs, err := write(k, schema.Create, r.old, nil)
	if err == nil && errs == nil && r.status != "" {
		if o, err = reread(k, o); err == nil {
			o, errs, err = write(k, schema.UpdateStatus, r.status, o)
		}
	}
	if err != nil || len(errs) > 0 {
		return nil, fmt.Errorf("the stored object is no good: %w %v", err, errs)
	}
	if r.going {
		o.SetDeletion(time.Unix(1e9, 0), 0)
		if k.Kind == "Namespace" {
			o.Field("status").Make("phase").SetStr(phaseTerminating)
		}
	}
	return reread(k, o)
}

func create(k *schema.Kind, body string) (*schema.Object, []string, error) {
	return write(k, schema.Create, body, nil)
}

// write does what a write request does with a body.
func write(k *schema.Kind, op schema.Operation, body string, old *schema.Object) (*schema.Object, []string, error) {
	o, problems, err := k.Decode([]byte(body))
	if err != nil {
		return nil, nil, fmt.Errorf("decode: %w", err)
	}
	if list := problems.List(); len(list) > 0 {
		return nil, nil, fmt.Errorf("decode: %v", list)
	}
	if op == schema.Create {
		k.PrepareCreate(o)
		if errs := k.ValidateCreate(o); len(errs) > 0 {
			return o, texts(errs), nil
		}
	} else {
		k.PrepareUpdate(op, o, old)
		if errs := k.ValidateUpdate(op, o, old); len(errs) > 0 {
			return o, texts(errs), nil
		}
	}
	k.Canonicalize(op, o, old)
	return o, nil, nil
}

func texts[E error](errs []E) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

// reread stores an object and decodes it in the form of the kind.
func reread(k *schema.Kind, o *schema.Object) (*schema.Object, error) {
	stored, err := k.Storage().DecodeStored(k.ToStorage(o).Encode().Value)
	if err != nil {
		return nil, fmt.Errorf("read what was stored: %w", err)
	}
	return k.FromStorage(stored)
}

func differences(o *schema.Object, want map[string]string) string {
	var document any
	if err := json.Unmarshal(o.AppendJSON(nil), &document); err != nil {
		return err.Error()
	}
	var out []string
	for place, text := range want {
		if got := at(document, place); got != text {
			out = append(out, fmt.Sprintf("%s is %s, want %s", place, got, text))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// at returns the JSON at a path such as spec.containers[0].name, or "" if it is unset.
func at(document any, place string) string {
	for part := range strings.SplitSeq(place, ".") {
		name, index, indexed := strings.Cut(part, "[")
		members, _ := document.(map[string]any)
		value, ok := members[name]
		if !ok {
			return ""
		}
		document = value
		if indexed {
			items, _ := document.([]any)
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil || i >= len(items) {
				return ""
			}
			document = items[i]
		}
	}
	text, err := json.Marshal(document)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestRules(t *testing.T) {
	cat := load(t, Hooks())
	for _, f := range rowFamilies() {
		t.Run(f.name, func(t *testing.T) {
			for _, r := range f.rows {
				t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) {
					if diff := r.run(cat); diff != "" {
						t.Error(diff)
					}
				})
			}
		})
	}
}

// named returns the body of an object with metadata and the given members. The namespace is n if
// the kind is namespaced.
func named(members string) string { return `{"metadata":{"name":"x","namespace":"n"},` + members + `}` }

// members joins the non-empty ones of parts.
func members(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ",")
}
