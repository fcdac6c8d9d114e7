package apiserver_test

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestAdmissionForms: webhooks that are called about the same write get the object and the old one
// each in the version that its rules name, though those with the same version share the text.
func TestAdmissionForms(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	admitters := map[string]*admitter{}
	for _, path := range []string{mutatingConfigurations, validatingConfigurations} {
		var hooks []map[string]any
		for _, version := range []string{"v1", "v2", "v1", "v2"} {
			name := strings.Repeat("a", len(hooks)+1) + "." + version + ".example.com"
			a := startAdmitter(t, func(*reviewed) map[string]any { return nil })
			admitters[path+" "+name+" "+version] = a
			hooks = append(hooks, a.webhook(name, map[string]any{
				"rules": []any{ruleOf("*", "autoscaling", version, "horizontalpodautoscalers")},
			}))
		}
		configure(t, s, path, "forms", hooks...)
	}
	const autoscalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
	autoscaler := `{"metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},` +
		`"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]}}`
	check(t, s.Do("POST", autoscalers, autoscaler), want{code: 200})
	check(t, patchAs(s, "merge", autoscalers+"/a", `{"spec":{"maxReplicas":4}}`), want{code: 200})
	for name, a := range admitters {
		version := name[strings.LastIndex(name, " ")+1:]
		own, other := "targetCPUUtilizationPercentage", "metrics"
		if version == "v2" {
			own, other = other, own
		}
		asked := a.take()
		if len(asked) != 2 {
			t.Fatalf("%s: %d calls, want 2", name, len(asked))
		}
		for _, o := range []map[string]any{asked[0].Object, asked[1].Object, asked[1].OldObject} {
			spec, _ := o["spec"].(map[string]any)
			if o["apiVersion"] != "autoscaling/"+version || spec[own] == nil || spec[other] != nil {
				t.Errorf("%s got %v", name, o)
			}
		}
	}
}
