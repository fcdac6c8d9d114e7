// Command node stands in for what a cluster has beside an API server and controllers, as far as the
// end-to-end tests of API machinery need it: each pod "runs" at once, and the pods that serve
// webhooks really do, by the code of the image that they name. They are reached under the names of
// their services, by a table of hosts that the nodes under test read in place of /etc/hosts.
//
//	node -kubeconfig FILE -hosts FILE -dir FOLDER
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// retryAfter is when what failed is tried again.
const retryAfter = time.Second

func main() {
	if len(os.Args) > 1 && programs[os.Args[1]] != nil {
		exit(programs[os.Args[1]](os.Args[2:]))
	}
	kubeconfig := flag.String("kubeconfig", "", "file that says how to reach the API server")
	hosts := flag.String("hosts", "", "file for the addresses of services, as /etc/hosts has them")
	dir := flag.String("dir", "", "folder for the files that pods read")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, *kubeconfig, *hosts, *dir))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run does the work until ctx ends.
func run(ctx context.Context, kubeconfig, hosts, dir string) (err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1                         // as often as needed
	config.ContentType = "application/json" // custom resources have no other
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	n := &node{client: client, dir: dir, processes: map[string]*process{}, services: newServices(client, hosts)}
	defer func() { err = errors.Join(err, n.close()) }()
	changed := make(chan struct{}, 1)
	changes := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { signalTo(changed) },
		UpdateFunc: func(any, any) { signalTo(changed) },
		DeleteFunc: func(any) { signalTo(changed) },
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods, services := factory.Core().V1().Pods(), factory.Core().V1().Services()
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), services.Informer()} {
		if _, err := informer.AddEventHandler(changes); err != nil {
			return err
		}
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	factory.WaitForCacheSyncWithContext(ctx)
	n.pods, n.services.lister = pods.Lister(), services.Lister()
	for {
		if err := n.sync(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "node:", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-time.After(retryAfter):
		}
	}
}

// signalTo signals to a receiver that needs no second signal while it has one.
func signalTo(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
