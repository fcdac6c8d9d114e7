package typed_test

import (
	"context"
	"mime"
	"net/http"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"quorate/chaos/clients/internal/cluster"
)

// forms counts the media types of answers that succeeded.
type forms struct {
	mu   sync.Mutex
	seen map[string]int
}

func (f *forms) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		form, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.seen[form]++
		return resp, err
	})
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// metadataClient: objects, lists and watches are of nothing but metadata, in protobuf, which this
// client asks for first.
func metadataClient(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	answered := &forms{seen: map[string]int{}}
	config := c.Config(t, 2)
	config.Wrap(answered.wrap)
	client, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	given := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bare", Labels: map[string]string{"bare": "yes"}}, Data: map[string]string{"k": "v"}}
	made, err := clientsets(t, c)[0].CoreV1().ConfigMaps(namespace).Create(ctx, given, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	configMaps := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(namespace)
	stream, err := configMaps.Watch(ctx, metav1.ListOptions{ResourceVersion: made.ResourceVersion, LabelSelector: "bare=yes"})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	read, err := configMaps.Get(ctx, "bare", metav1.GetOptions{})
	if err != nil || read.UID != made.UID || read.ResourceVersion != made.ResourceVersion {
		t.Errorf("read %+v, %v", read, err)
	}
	patched, err := configMaps.Patch(ctx, "bare", types.MergePatchType, []byte(`{"metadata":{"labels":{"more":"yes"}}}`), metav1.PatchOptions{})
	if err != nil || patched.Labels["more"] != "yes" {
		t.Fatalf("patched %+v, %v", patched, err)
	}
	list, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "bare=yes"})
	if err != nil || len(list.Items) != 1 || list.Items[0].UID != made.UID || list.ResourceVersion == "" {
		t.Errorf("listed %+v, %v", list, err)
	}
	if err := configMaps.Delete(ctx, "bare", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := configMaps.Get(ctx, "bare", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("read after the deletion: %v", err)
	}
	checkStream(t, stream, []string{patched.ResourceVersion})
	answered.mu.Lock()
	defer answered.mu.Unlock()
	if len(answered.seen) != 1 || answered.seen["application/vnd.kubernetes.protobuf"] < 5 {
		t.Errorf("answered in %v", answered.seen)
	}
}
