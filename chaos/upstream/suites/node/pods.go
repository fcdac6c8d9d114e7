package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// node runs pods. Only one goroutine uses it.
type node struct {
	client    kubernetes.Interface
	pods      corelisters.PodLister
	dir       string
	processes map[string]*process // by the UID of the pod
	services  *services
}

// sync brings processes, the status of pods and services to where they should be.
func (n *node) sync(ctx context.Context) error {
	pods, err := n.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	var errs []error
	there := map[string]bool{}
	for _, pod := range pods {
		there[string(pod.UID)] = true
		if err := n.run(ctx, pod); err != nil {
			errs = append(errs, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err))
		}
	}
	for uid, p := range n.processes {
		if !there[uid] {
			errs = append(errs, p.end())
			delete(n.processes, uid)
		}
	}
	return errors.Join(append(errs, n.services.sync(ctx, pods, n.processes))...)
}

// run starts the pod's process, if it has one, and reports that the pod runs as soon as it does.
func (n *node) run(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodRunning ||
		pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	if _, known := programOf(pod); known {
		p, err := n.process(ctx, pod)
		if err != nil || !p.ready() {
			return err
		}
	}
	pod = pod.DeepCopy()
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.PodIP, pod.Status.HostIP = loopback, loopback
	for _, c := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: c, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	_, err := n.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // the pod's next state is on its way
	}
	return err
}

// programOf returns the arguments of the container that is a program of this command.
func programOf(pod *corev1.Pod) (args []string, known bool) {
	if len(pod.Spec.Containers) == 0 || len(pod.Spec.Containers[0].Args) == 0 {
		return nil, false
	}
	args = pod.Spec.Containers[0].Args
	return args, programs[args[0]] != nil
}

// process returns the pod's process, which it starts if need be.
func (n *node) process(ctx context.Context, pod *corev1.Pod) (*process, error) {
	uid := string(pod.UID)
	if p := n.processes[uid]; p != nil {
		return p, nil
	}
	args, _ := programOf(pod)
	args = append([]string(nil), args...)
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		dir := filepath.Join(n.dir, uid, mount.Name)
		if err := n.mount(ctx, pod, mount.Name, dir); err != nil {
			return nil, err
		}
		for i := range args {
			args[i] = strings.Replace(args[i], mount.MountPath, dir, 1)
		}
	}
	p, err := startProcess(args, filepath.Join(n.dir, pod.Namespace+"-"+pod.Name+".log"))
	if err == nil {
		n.processes[uid] = p
	}
	return p, err
}

// mount writes the files of a volume that is a secret.
func (n *node) mount(ctx context.Context, pod *corev1.Pod, name, dir string) error {
	for _, volume := range pod.Spec.Volumes {
		if volume.Name != name || volume.Secret == nil {
			continue
		}
		secret, err := n.client.CoreV1().Secrets(pod.Namespace).Get(ctx, volume.Secret.SecretName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for file, data := range secret.Data {
			if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// close ends all processes.
func (n *node) close() error {
	var errs []error
	for _, p := range n.processes {
		errs = append(errs, p.end())
	}
	return errors.Join(append(errs, n.services.close())...)
}
