package custom

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"quorate/apiserver/controllers/background"
	"quorate/apiserver/controllers/custom/conversion"
	"quorate/apiserver/controllers/derived"
	"quorate/apiserver/objects/expression"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/structural"
	"quorate/apiserver/wire/webhook"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Store is the part of the replicated store that this package uses.
type Store interface {
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Update(ctx context.Context, u raftstore.Update) (*state.Object, error)
	Delete(ctx context.Context, d raftstore.Delete) (*state.Object, error)
	Watch(p state.Prefix, after uint64) (*history.Cursor, error)
	WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error
}

// Config configures a Served.
type Config struct {
	Store Store
	// Catalog contains the kinds that have files.
	Catalog    *schema.Catalog
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Answers bounds the memory of what conversion webhooks answer.
	Answers *webhook.Answers
	// OtherBuild returns why a member may run another build than this node, or "". A leader of an
	// older build would not respect what definitions have taken over. Nil: there are no others.
	OtherBuild func(ctx context.Context) (why string, err error)
}

// Served is the set of kinds that a node serves for ThirdPartyResources and
// CustomResourceDefinitions.
type Served struct {
	*derived.Refresher // keeps current up to date
	store              Store
	factory            factory
	log                *slog.Logger
	metrics            *metrics
	otherBuild         func(ctx context.Context) (why string, err error) // nil without other nodes
	current            atomic.Pointer[Set]
}

// New returns a Served with an empty set. Run fills it.
func New(cfg Config) (*Served, error) {
	kind := cfg.Catalog.Kind("/apis/extensions/v1beta1", "thirdpartyresources")
	definition := cfg.Catalog.Kind("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions")
	if kind == nil || definition == nil {
		return nil, errors.New("custom: the catalog lacks ThirdPartyResources or CustomResourceDefinitions")
	}
	s := &Served{
		store: cfg.Store,
		factory: factory{
			kind: kind, definition: definition, static: cfg.Catalog, groups: cfg.Catalog.Groups(),
			prefixes: prefixes{stored.Prefix(kind, ""), stored.Prefix(definition, "")},
			programs: expression.NewPrograms(structural.DefaultProgramBytes), webhooks: conversion.NewMetrics(cfg.Registerer),
			answers: cfg.Answers,
		},
		log:        cfg.Logger.With("component", "custom"),
		otherBuild: cfg.OtherBuild,
	}
	s.Refresher = derived.New(cfg.Store, s.log, s.covers)
	s.metrics = newMetrics(cfg.Registerer, s)
	s.current.Store(&Set{Catalog: cfg.Catalog})
	return s, nil
}

// Catalog returns the kinds that are currently served.
func (s *Served) Catalog() *schema.Catalog { return s.current.Load().Catalog }

// CatalogOf returns the kinds that root, or a newer state, defines.
func (s *Served) CatalogOf(ctx context.Context, root *state.Root) (*schema.Catalog, error) {
	if err := s.Refresh(ctx, root); err != nil {
		return nil, err
	}
	return s.Catalog(), nil
}

// Ready returns an error if the current state defines kinds that are not served yet.
func (s *Served) Ready() error {
	root, err := s.store.View(context.Background(), raftstore.Cached()) // does not wait
	if err == nil && !s.covers(root) {
		err = errors.New("kinds that definitions define are not served yet")
	}
	return err
}

func (s *Served) covers(root *state.Root) bool {
	set := s.current.Load()
	return root.Index() <= set.index || set.covers(root, s.factory.prefixes)
}

// Run keeps the set up to date until ctx ends. It calls publish, from one goroutine, with each new
// set before it considers the set served. While this node leads, Run also removes the objects of
// deleted definitions and writes the status of CustomResourceDefinitions. It must be called once.
func (s *Served) Run(ctx context.Context, publish func(*Set) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		s.Answer(ctx, func(ctx context.Context, root *state.Root) error { return s.advance(ctx, group, root, publish) })
		return nil
	})
	for _, prefix := range s.factory.prefixes {
		group.Go(func() error {
			s.tasks().Persist(ctx, "follow", func(ctx context.Context) error { return s.Follow(ctx, prefix) })
			return nil
		})
	}
	for name, task := range map[string]func(context.Context) error{"remove": s.remove, "attend": s.attend} {
		group.Go(func() error {
			return s.store.WhileLeader(ctx, func(ctx context.Context) error {
				s.tasks().Persist(ctx, name, task)
				return nil
			})
		})
	}
	err := group.Wait()
	for _, owner := range s.current.Load().Owners {
		owner.close(nil)
	}
	return err
}

func (s *Served) tasks() background.Tasks {
	return background.Tasks{Log: s.log, Errors: s.metrics.errors}
}

// advance makes and publishes the set of a state.
func (s *Served) advance(ctx context.Context, group *errgroup.Group, root *state.Root, publish func(*Set) error) error {
	before := s.current.Load()
	set, err := s.factory.make(root, before)
	if err == nil {
		err = publish(set)
	}
	if err != nil {
		s.metrics.errors.Inc()
		s.log.Error("kinds that definitions define can't be served", "index", root.Index(), "error", err)
		return err
	}
	s.current.Store(set)
	for _, former := range before.Owners {
		now := set.ownerOf(former.resource)
		former.close(now)
		if err := s.end(ctx, group, former, now, root); err != nil {
			return err
		}
	}
	return nil
}

// end ends the watches of former's kinds that the owner now of its instances does not continue:
// those of a removed version (K15), of a changed CustomResourceDefinition, and of instances taken
// over, at once. If the definition was deleted (now is nil), the watches end after its last instance
// is removed (K14).
func (s *Served) end(ctx context.Context, group *errgroup.Group, former, now *Owner, root *state.Root) error {
	if now != nil {
		gone := slices.DeleteFunc(slices.Clone(former.Kinds), func(k Kind) bool { return now.continues(k.End) })
		return s.endWatches(ctx, gone, root)
	}
	group.Go(func() error {
		s.tasks().Persist(ctx, "await removal", func(ctx context.Context) error { return s.awaitRemoval(ctx, former) })
		return nil
	})
	return nil
}

// endWatches ends the watches of kinds after the events up to root. A root is published shortly
// before the history reaches its index. endWatches first waits for that, because otherwise a watch
// could wait for one more event before it ends.
func (s *Served) endWatches(ctx context.Context, kinds []Kind, root *state.Root) error {
	if len(kinds) == 0 {
		return nil
	}
	if _, err := s.store.View(ctx, raftstore.AtLeast(root.Index())); err != nil {
		return err
	}
	for _, k := range kinds {
		k.End.At(root.Index())
	}
	return nil
}

// awaitRemoval waits until the last instance of a deleted definition is removed, and then
// ends its watches.
func (s *Served) awaitRemoval(ctx context.Context, former *Owner) error {
	prefix := state.ResourcePrefix(former.resource)
	for {
		root, err := s.store.View(ctx, raftstore.Cached())
		if err != nil {
			return err
		}
		if root.Count(prefix) == 0 {
			return s.endWatches(ctx, former.Kinds, root)
		}
		changes, err := s.store.Watch(prefix, root.Index())
		if err != nil {
			return err
		}
		if _, err := changes.Next(ctx); err != nil {
			return err
		}
	}
}
