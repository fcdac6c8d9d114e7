package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"quorate/apiserver/access/admission"
	"quorate/apiserver/controllers/background"
	"quorate/apiserver/controllers/derived"
	"quorate/apiserver/limit"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// maxWebhooks bounds the webhooks of all configurations. A write that would add to more is refused.
// Configurations written at the same time may exceed it a little; all of them apply.
const maxWebhooks = 1000

// Config configures a Follower.
type Config struct {
	Store derived.Store
	// Catalog contains the kinds of configurations.
	Catalog    *schema.Catalog
	Dispatcher *admission.Dispatcher
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Follower publishes the configurations of this node's state.
type Follower struct {
	*derived.Refresher
	mutating, validating *schema.Kind
	dispatcher           *admission.Dispatcher
	log                  *slog.Logger
	errors               prometheus.Counter
	position             atomic.Uint64 // index of the state that was published
}

// New returns a Follower. Run publishes the first configurations.
func New(cfg Config) (*Follower, error) {
	const prefix = "/apis/" + admission.Group + "/v1"
	f := &Follower{
		mutating: cfg.Catalog.Kind(prefix, "mutatingwebhookconfigurations"), validating: cfg.Catalog.Kind(prefix, "validatingwebhookconfigurations"),
		dispatcher: cfg.Dispatcher, log: cfg.Logger.With("component", "webhooks"),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_admission_errors_total",
			Help: "Failures to follow or read the configurations of admission webhooks, which are retried.",
		}),
	}
	if f.mutating == nil || f.validating == nil {
		return nil, errors.New("webhooks: the catalog lacks the kinds of webhook configurations")
	}
	cfg.Registerer.MustRegister(f.errors)
	f.Refresher = derived.New(cfg.Store, f.log, f.covers)
	return f, nil
}

func (f *Follower) covers(root *state.Root) bool {
	return f.dispatcher.Current() != nil && root.Index() <= f.position.Load()
}

// Ready returns an error until the configurations are known.
func (f *Follower) Ready() error {
	if f.dispatcher.Current() == nil {
		return errors.New("the webhook configurations are not known yet")
	}
	return nil
}

// Run publishes the configurations whenever they change, until ctx ends. It must be called once.
func (f *Follower) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		f.Answer(ctx, f.advance)
		return nil
	})
	group.Go(func() error {
		f.tasks().Persist(ctx, "load", f.Confirm)
		for _, k := range []*schema.Kind{f.mutating, f.validating} {
			group.Go(func() error {
				f.tasks().Persist(ctx, "follow "+k.Plural, func(ctx context.Context) error { return f.Follow(ctx, stored.Prefix(k, "")) })
				return nil
			})
		}
		return nil
	})
	err := group.Wait()
	if x := f.dispatcher.Current(); x != nil {
		x.Close()
	}
	return err
}

func (f *Follower) tasks() background.Tasks { return background.Tasks{Log: f.log, Errors: f.errors} }

// advance publishes the configurations of a state.
func (f *Follower) advance(_ context.Context, root *state.Root) error {
	var objects []*state.Object
	for _, k := range []*schema.Kind{f.mutating, f.validating} {
		root.Ascend(stored.Prefix(k, ""), "", func(o *state.Object) bool {
			objects = append(objects, o)
			return true
		})
	}
	x, err := admission.NewIndex(objects, f.mutating, f.validating, f.dispatcher.Current())
	if err != nil {
		f.errors.Inc()
		f.log.Error("the webhook configurations can't be read", "index", root.Index(), "error", err)
		return err
	}
	f.dispatcher.Publish(x)
	f.position.Store(root.Index())
	return nil
}

// StoreOf returns the store that the handlers of a kind use. For configurations, its writes return
// after this node has published them. For other kinds it is store itself.
func (f *Follower) StoreOf(k *schema.Kind, store rest.Store) rest.Store {
	if k.Resource != f.mutating.Resource && k.Resource != f.validating.Resource {
		return store
	}
	return &bounded{f.Writes(store), f}
}

// bounded is the store of configurations. It refuses more webhooks than may be.
type bounded struct {
	rest.Store
	follower *Follower
}

func (b *bounded) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	if err := b.follower.bound(c.Key, nil, c.Object); err != nil {
		return nil, err
	}
	return b.Store.Create(ctx, c)
}

func (b *bounded) Update(ctx context.Context, u raftstore.Update) (*state.Object, error) {
	if err := b.follower.bound(u.Key, u.Previous, u.Object); err != nil {
		return nil, err
	}
	return b.Store.Update(ctx, u)
}

// bound refuses a configuration that adds webhooks if there are too many then.
func (f *Follower) bound(key state.Key, previous, next *state.Object) error {
	k := f.validating
	if key.Resource() == f.mutating.Resource {
		k = f.mutating
	}
	had, err := webhooksIn(k, previous)
	if err != nil {
		return err
	}
	has, err := webhooksIn(k, next)
	if err != nil {
		return err
	}
	all := 0
	if x := f.dispatcher.Current(); x != nil {
		all = x.Len()
	}
	if has <= had || all+has-had <= maxWebhooks {
		return nil
	}
	_, _, name := key.Split()
	return limit.Reached(limit.AdmissionWebhooks, status.NewForbidden(
		status.Subject{Group: k.Group, Plural: k.Plural, Kind: k.Kind, Name: name},
		fmt.Sprintf("all configurations together may have at most %d webhooks", maxWebhooks)))
}

// webhooksIn returns the number of webhooks of a stored configuration, which may be nil.
func webhooksIn(k *schema.Kind, o *state.Object) (n int, err error) {
	if o == nil {
		return 0, nil
	}
	decoded, err := k.DecodeStored(o.Value)
	if err != nil {
		return 0, err
	}
	return decoded.Root().Field("webhooks").Len(), nil
}
