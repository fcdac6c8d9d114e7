package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// services makes services reachable whose pods run a process. Each service has a loopback address
// of its own, at which its ports are forwarded.
type services struct {
	client kubernetes.Interface
	lister corelisters.ServiceLister
	hosts  string // file
	last   int    // number of addresses given
	open   map[string]*forwarder
}

func newServices(client kubernetes.Interface, hosts string) *services {
	return &services{client: client, hosts: hosts, open: map[string]*forwarder{}}
}

// sync opens and closes services, and writes the table of hosts if that changed them.
func (s *services) sync(ctx context.Context, pods []*corev1.Pod, processes map[string]*process) error {
	list, err := s.lister.List(labels.Everything())
	if err != nil {
		return err
	}
	var errs []error
	changed := false
	there := map[string]bool{}
	for _, service := range list {
		uid := string(service.UID)
		there[uid] = true
		p := backend(service, pods, processes)
		if p == nil || s.open[uid] != nil {
			continue
		}
		f, err := s.forward(service, p)
		if err == nil {
			err = s.publish(ctx, service)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("service %s/%s: %w", service.Namespace, service.Name, err))
			if f != nil {
				errs = append(errs, f.close())
			}
			continue
		}
		s.open[uid], changed = f, true
	}
	for uid, f := range s.open {
		if !there[uid] {
			errs = append(errs, f.close())
			delete(s.open, uid)
			changed = true
		}
	}
	if changed {
		errs = append(errs, s.writeHosts())
	}
	return errors.Join(errs...)
}

// backend returns the process of the first running pod of a service.
func backend(service *corev1.Service, pods []*corev1.Pod, processes map[string]*process) *process {
	if len(service.Spec.Selector) == 0 {
		return nil
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	for _, pod := range pods {
		if p := processes[string(pod.UID)]; p != nil && pod.Namespace == service.Namespace &&
			pod.Status.Phase == corev1.PodRunning && selector.Matches(labels.Set(pod.Labels)) {
			return p
		}
	}
	return nil
}

// forward opens the first port of a service that leads to the process.
func (s *services) forward(service *corev1.Service, p *process) (*forwarder, error) {
	for _, port := range service.Spec.Ports {
		if port.TargetPort.IntValue() != p.podPort {
			continue
		}
		s.last++
		address := fmt.Sprintf("127.77.%d.%d", s.last/250, s.last%250+1)
		return newForwarder(service.Name+"."+service.Namespace+".svc", address, int(port.Port), p.port)
	}
	return nil, errors.New("no port leads to the pod")
}

// publish writes the endpoints of a service, for tests that wait for them.
func (s *services) publish(ctx context.Context, service *corev1.Service) error {
	ready := true
	_, err := s.client.DiscoveryV1().EndpointSlices(service.Namespace).Create(ctx, &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: service.Name + "-", Labels: map[string]string{discoveryv1.LabelServiceName: service.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(service, corev1.SchemeGroupVersion.WithKind("Service"))},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{loopback}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}},
	}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		return nil // the namespace went away
	}
	return err
}

// writeHosts writes the file in place: the nodes have its inode mounted.
func (s *services) writeHosts() error {
	lines := []string{"127.0.0.1 localhost\n"}
	for _, f := range s.open {
		lines = append(lines, f.address+" "+f.name+"\n")
	}
	slices.Sort(lines)
	return os.WriteFile(s.hosts, []byte(strings.Join(lines, "")), 0o644)
}

func (s *services) close() error {
	var errs []error
	for _, f := range s.open {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// forwarder copies what is sent to the address of a service to a process.
type forwarder struct {
	name, address string
	listener      net.Listener
	target        string
	wg            sync.WaitGroup

	mu     sync.Mutex
	closed bool       // guarded by mu
	conns  []net.Conn // guarded by mu
}

func newForwarder(name, address string, port, target int) (*forwarder, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	f := &forwarder{name: name, address: address, listener: listener, target: net.JoinHostPort(loopback, strconv.Itoa(target))}
	f.wg.Go(f.accept)
	return f, nil
}

func (f *forwarder) accept() {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return // it was closed
		}
		server, err := net.Dial("tcp", f.target)
		if err != nil {
			client.Close()
			continue
		}
		f.mu.Lock()
		f.conns = append(f.conns, client, server)
		closed := f.closed
		f.mu.Unlock()
		if closed {
			client.Close()
			server.Close()
			return
		}
		for _, ends := range [...][2]net.Conn{{client, server}, {server, client}} {
			f.wg.Go(func() {
				io.Copy(ends[0], ends[1])
				ends[0].Close()
			})
		}
	}
}

// close ends all connections, and waits for them.
func (f *forwarder) close() error {
	err := f.listener.Close()
	f.mu.Lock()
	f.closed = true
	for _, conn := range f.conns {
		conn.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
	return err
}
