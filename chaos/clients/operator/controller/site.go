// Package controller reconciles Sites.
package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	sitev1 "quorate/chaos/clients/operator/api/v1"
)

// finalizer keeps a Site until the operator has seen its deletion.
const finalizer = "demo.example.com/site"

// What the reconciler may do:
//
// +kubebuilder:rbac:groups=demo.example.com,resources=sites,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=demo.example.com,resources=sites/status;sites/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=default,resources=leases,verbs=get;create;update

// reconciler keeps a ConfigMap and a Deployment beside each Site, and its status.
type reconciler struct {
	client.Client
	events events.EventRecorder
}

// Add adds the reconciler of Sites to a manager.
func Add(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(&sitev1.Site{}).
		Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).
		Complete(&reconciler{Client: m.GetClient(), events: m.GetEventRecorder("site-operator")})
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &sitev1.Site{}
	if err := r.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(site, finalizer) {
			return ctrl.Result{}, r.Update(ctx, site)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(site, finalizer) {
		return ctrl.Result{}, r.Update(ctx, site)
	}
	if err := r.page(ctx, site); err != nil {
		return ctrl.Result{}, err
	}
	deployment, err := r.deployment(ctx, site)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.status(ctx, site, deployment)
}

// page keeps the ConfigMap.
func (r *reconciler) page(ctx context.Context, site *sitev1.Site) error {
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, page, func() error {
		page.Data = map[string]string{"index.html": site.Spec.Page}
		return controllerutil.SetControllerReference(site, page, r.Scheme())
	})
	return err
}

// deployment keeps the Deployment.
func (r *reconciler) deployment(ctx context.Context, site *sitev1.Site) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	done, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		labels := map[string]string{"site": site.Name}
		deployment.Spec.Replicas = &site.Spec.Replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "registry.example.com/web:1"}}
		}
		return controllerutil.SetControllerReference(site, deployment, r.Scheme())
	})
	if done == controllerutil.OperationResultCreated {
		r.events.Eventf(site, deployment, corev1.EventTypeNormal, "Deployed", "Deploy", "created the Deployment of %s", site.Name)
	}
	return deployment, err
}

// status writes what has become of the Site, if that is news.
func (r *reconciler) status(ctx context.Context, site *sitev1.Site, deployment *appsv1.Deployment) error {
	before := site.DeepCopy()
	site.Status.Ready, site.Status.ObservedGeneration = deployment.Status.ReadyReplicas, site.Generation
	site.Status.Selector = "site=" + site.Name
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", ObservedGeneration: site.Generation}
	if deployment.Status.ReadyReplicas == site.Spec.Replicas {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Served"
	}
	meta.SetStatusCondition(&site.Status.Conditions, ready)
	if equality.Semantic.DeepEqual(before.Status, site.Status) {
		return nil
	}
	return r.Status().Patch(ctx, site, client.MergeFrom(before))
}
