package protobuf_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"quorate/chaos/clients/internal/cluster"
)

const (
	media = "application/vnd.kubernetes.protobuf"
	// patience bounds a test on a slow machine.
	patience = 2 * time.Minute
)

// only fails the test when something is answered in another form than protobuf.
type only struct {
	t    *testing.T
	next http.RoundTripper
}

func (o only) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := o.next.RoundTrip(r)
	if err == nil && !strings.HasPrefix(resp.Header.Get("Content-Type"), media) {
		o.t.Errorf("%s %s: %s", r.Method, r.URL.Path, resp.Header.Get("Content-Type"))
	}
	return resp, err
}

// TestAssumedKinds_B20 uses the kinds that stock clients assume with a stock client that speaks
// nothing but protobuf.
func TestAssumedKinds_B20(t *testing.T) {
	c := cluster.Start(t, 1)
	cfg := c.Config(t, 0)
	cfg.ContentType, cfg.AcceptContentTypes = media, media
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return only{t, next} })
	set, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(ctx context.Context, t *testing.T, set *kubernetes.Clientset){
		"elections": elections, "secrets": secrets, "services": services, "scales": scales, "controllers": controllers, "autoscalers": autoscalers, "cron jobs": cronJobs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			test(ctx, t, set)
		})
	}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// elections: one leads and gives the lease up, then the other leads. Times keep their microseconds.
func elections(ctx context.Context, t *testing.T, set *kubernetes.Clientset) {
	for _, identity := range []string{"one", "other"} {
		term, resign := context.WithCancel(ctx)
		leaderelection.RunOrDie(term, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "lead"}, Client: set.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
			},
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 100 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {
					lease, err := set.CoordinationV1().Leases("default").Get(ctx, "lead", metav1.GetOptions{})
					if err != nil || *lease.Spec.HolderIdentity != identity || lease.Spec.RenewTime.Nanosecond()%1000 != 0 {
						t.Errorf("lease of %s: %+v, %v", identity, lease, err)
					}
					resign()
				},
				OnStoppedLeading: func() {},
			},
		})
		resign()
	}
	if ctx.Err() != nil {
		t.Error("the lease did not change hands")
	}
}

func secrets(ctx context.Context, t *testing.T, set *kubernetes.Clientset) {
	made, err := set.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{
		ObjectMeta: named("s"), Data: map[string][]byte{"raw": {0, 255}}, StringData: map[string]string{"text": "größe"},
	}, metav1.CreateOptions{})
	if err != nil || made.Type != corev1.SecretTypeOpaque || string(made.Data["text"]) != "größe" || string(made.Data["raw"]) != "\x00\xff" || made.StringData != nil {
		t.Errorf("%+v, %v", made, err)
	}
}

func services(ctx context.Context, t *testing.T, set *kubernetes.Clientset) {
	made, err := set.CoreV1().Services("default").Create(ctx, &corev1.Service{
		ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}, ClusterIP: "10.0.0.1"},
	}, metav1.CreateOptions{})
	if err != nil || made.Spec.Ports[0].TargetPort.IntVal != 80 || len(made.Spec.ClusterIPs) != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	list, err := set.CoreV1().Services("default").List(ctx, metav1.ListOptions{FieldSelector: "spec.clusterIP=10.0.0.1,spec.type=ClusterIP"})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// controllers: a ReplicationController gets its labels from the template, is scaled, and is found by
// the number of its replicas.
func controllers(ctx context.Context, t *testing.T, set *kubernetes.Clientset) {
	pod := template()
	rcs := set.CoreV1().ReplicationControllers("default")
	made, err := rcs.Create(ctx, &corev1.ReplicationController{
		ObjectMeta: named("rc"), Spec: corev1.ReplicationControllerSpec{Template: &pod},
	}, metav1.CreateOptions{})
	if err != nil || made.Spec.Selector["a"] != "b" || made.Labels["a"] != "b" {
		t.Fatalf("%+v, %v", made, err)
	}
	scale, err := rcs.GetScale(ctx, "rc", metav1.GetOptions{})
	if err != nil || scale.Spec.Replicas != 1 || scale.Status.Selector != "a=b" {
		t.Fatalf("%+v, %v", scale, err)
	}
	scale.Spec.Replicas = 3
	if _, err := rcs.UpdateScale(ctx, "rc", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if made, err = rcs.Get(ctx, "rc", metav1.GetOptions{}); err != nil || *made.Spec.Replicas != 3 || made.Generation != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
	made.Status = corev1.ReplicationControllerStatus{Replicas: 2, ObservedGeneration: 2}
	if _, err := rcs.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string]int{"status.replicas=2": 1, "status.replicas=1": 0} {
		list, err := rcs.List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil || len(list.Items) != want {
			t.Errorf("%s: %+v, %v", selector, list, err)
		}
	}
	if _, err := set.CoreV1().PodTemplates("default").Create(ctx, &corev1.PodTemplate{ObjectMeta: named("t"), Template: pod}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

func scales(ctx context.Context, t *testing.T, set *kubernetes.Clientset) {
	sets := set.AppsV1().StatefulSets("default")
	stream, err := sets.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	if _, err := sets.Create(ctx, &appsv1.StatefulSet{ObjectMeta: named("s"), Spec: appsv1.StatefulSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, Template: template(),
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	scale, err := sets.GetScale(ctx, "s", metav1.GetOptions{})
	if err != nil || scale.Spec.Replicas != 1 || scale.Status.Selector != "a=b" {
		t.Fatalf("%+v, %v", scale, err)
	}
	scale.Spec.Replicas = 3
	if scale, err = sets.UpdateScale(ctx, "s", scale, metav1.UpdateOptions{}); err != nil || scale.Spec.Replicas != 3 {
		t.Errorf("%+v, %v", scale, err)
	}
	for _, replicas := range []int32{1, 3} {
		if o, ok := (<-stream.ResultChan()).Object.(*appsv1.StatefulSet); !ok || *o.Spec.Replicas != replicas {
			t.Errorf("watched %+v", o)
		}
	}
}

func autoscalers(ctx context.Context, t *testing.T, set *kubernetes.Clientset) {
	cpu := int32(60)
	scalers := set.AutoscalingV1().HorizontalPodAutoscalers("default")
	made, err := scalers.Create(ctx, &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: named("h"), Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{Kind: "StatefulSet", Name: "s", APIVersion: "apps/v1"},
		MaxReplicas:    3, TargetCPUUtilizationPercentage: &cpu,
	}}, metav1.CreateOptions{})
	if err != nil || *made.Spec.TargetCPUUtilizationPercentage != 60 || *made.Spec.MinReplicas != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	list, err := scalers.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || *list.Items[0].Spec.TargetCPUUtilizationPercentage != 60 {
		t.Errorf("%+v, %v", list, err)
	}
	stream, err := scalers.Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	if o, ok := (<-stream.ResultChan()).Object.(*autoscalingv1.HorizontalPodAutoscaler); !ok || *o.Spec.TargetCPUUtilizationPercentage != 60 {
		t.Errorf("watched %+v", o)
	}
	made.Spec.MaxReplicas = 4
	if _, err := scalers.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if o, ok := (<-stream.ResultChan()).Object.(*autoscalingv1.HorizontalPodAutoscaler); !ok || o.Spec.MaxReplicas != 4 {
		t.Errorf("watched %+v", o)
	}
}

func cronJobs(ctx context.Context, t *testing.T, set *kubernetes.Clientset) {
	pod := template()
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	made, err := set.BatchV1().CronJobs("default").Create(ctx, &batchv1.CronJob{ObjectMeta: named("c"), Spec: batchv1.CronJobSpec{
		Schedule: "@daily", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: pod}},
	}}, metav1.CreateOptions{})
	if err != nil || made.Spec.ConcurrencyPolicy != batchv1.AllowConcurrent || *made.Spec.SuccessfulJobsHistoryLimit != 3 {
		t.Errorf("%+v, %v", made, err)
	}
}
