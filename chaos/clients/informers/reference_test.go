package informers_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"quorate/chaos/history"
)

// fullWatch returns all that a watch from the beginning tells, up to the version end (Z8).
func fullWatch(ctx context.Context, t *testing.T, config *rest.Config, end uint64) (all []history.Event) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		seen, err := seenOf(event.Type, event.Object)
		if err != nil {
			t.Fatalf("watch from the beginning: %v: %+v", err, event.Object)
		}
		if all = append(all, seen); seen.Item.Version >= end {
			return all
		}
	}
	t.Fatalf("the watch from the beginning ended after %d events", len(all))
	return nil
}

// verdict compares one informer's record with all that happened.
type verdict struct{ missed, repeated, disordered, invented int }

// compare finds, in the history, the state with which a record began, and expects every later
// change once and in order. No object may have been deleted before, because otherwise two states
// could be equal.
func compare(all []history.Event, r *record) (verdict, error) {
	start, ok := begin(all, r.initial)
	if !ok {
		return verdict{}, fmt.Errorf("its first list of %d objects was never the state", len(r.initial))
	}
	var v verdict
	due := map[history.Event]bool{}
	for _, seen := range all[start:] {
		due[seen] = true
	}
	got := map[history.Event]bool{}
	var last uint64
	for _, seen := range r.changes {
		switch {
		case got[seen]:
			v.repeated++
		case !due[seen]:
			v.invented++
		case seen.Item.Version < last:
			v.disordered++
		}
		got[seen] = true
		last = max(last, seen.Item.Version)
	}
	for seen := range due {
		if !got[seen] {
			v.missed++
		}
	}
	return v, nil
}

// begin returns after how many of the changes exactly the given versions were there.
func begin(all []history.Event, versions map[string]uint64) (start int, ok bool) {
	now := map[string]uint64{}
	right := 0 // names of now that are in versions so
	for i := 0; ; i++ {
		if right == len(versions) && len(now) == len(versions) {
			return i, true
		}
		if i == len(all) {
			return 0, false
		}
		seen := all[i]
		if before, there := now[seen.Item.Key]; there && versions[seen.Item.Key] == before {
			right--
		}
		delete(now, seen.Item.Key)
		if seen.Type != "DELETED" {
			now[seen.Item.Key] = seen.Item.Version
			if versions[seen.Item.Key] == seen.Item.Version {
				right++
			}
		}
	}
}
