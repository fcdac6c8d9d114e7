package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"quorate/chaos/client"
)

// readKind is a kind of read.
type readKind struct {
	name  string
	local bool // answered from the node's own state
	// do makes the read. A flaw describes a wrong response; an error means that there was no
	// response.
	do func(ctx context.Context, c *client.Client, want *content) (flaw string, err error)
}

// Representations of lists and objects.
const (
	asTable    = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asMetadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
)

// watchSeconds is how long each stream lasts.
const watchSeconds = 2

// readKinds returns all kinds of reads except paged lists.
func readKinds() []readKind {
	return []readKind{
		{"get", false, getObject("")},
		{"cached get", true, getObject(cached)},
		{"list", false, listObjects(func(*content) string { return "" })},
		{"cached list", true, listObjects(func(*content) string { return cached })},
		{"list of an exact version", true, listExactly},
		{"list not older than a version", true, listObjects(notOlder)},
		{"table", false, decoded(asTable, "", tableRows)},
		{"cached metadata", true, decoded(asMetadata, cached, metadataItems)},
		{"protobuf", false, protobufList("")},
		{"cached protobuf", true, protobufList(cached)},
		{"watch", true, watchNothing},
		{"discovery of groups", true, document("/apis", "groups")},
		{"discovery of resources", true, document("/api/v1", "resources")},
		{"members", true, document("/cluster/v1/members", "members")},
		{"readyz", false, probe("/readyz")}, // a node without a leader is not ready
		{"livez", true, probe("/livez")},
	}
}

// told divides the outcome of a request into a flaw of the response and the lack of a response.
func told(outcome client.Outcome, err error) (flaw string, missing error) {
	switch outcome {
	case client.OK:
		return "", nil
	case client.Unavailable, client.Unknown:
		return "", err
	default: // nothing is missing, in conflict or too old here
		return err.Error(), nil
	}
}

// cached requests the node's own state, whatever its version.
const cached = "resourceVersion=0"

// found classifies a wrong content. A node that has just started may not have its whole state yet;
// a response from its own state then counts as missing, not as wrong.
func found(query, flaw string) (string, error) {
	if flaw != "" && query == cached {
		return "", errors.New(flaw)
	}
	return flaw, nil
}

func notOlder(want *content) string {
	return fmt.Sprintf("resourceVersion=%d&resourceVersionMatch=NotOlderThan", want.version)
}

// exactAttempts is the number of attempts of a list at an exact version: an entry without a write
// may advance the state in between, after which the node no longer has the previous state.
const exactAttempts = 5

// listExactly lists at exactly the version that the node has.
func listExactly(ctx context.Context, c *client.Client, want *content) (flaw string, err error) {
	for range exactAttempts {
		now, outcome, err := c.Page(ctx, want.namespace, cached)
		if outcome != client.OK {
			return told(outcome, err)
		}
		if flaw := want.differs(now.Version, now.Objects); flaw != "" {
			return found(cached, flaw)
		}
		page, outcome, err := c.Page(ctx, want.namespace, fmt.Sprintf("resourceVersion=%d&resourceVersionMatch=Exact", now.Version))
		switch {
		case outcome == client.Expired:
			flaw = err.Error()
			continue
		case outcome != client.OK:
			return told(outcome, err)
		case page.Version != now.Version:
			return fmt.Sprintf("the list of exactly version %d is of version %d", now.Version, page.Version), nil
		}
		return want.differs(page.Version, page.Objects), nil
	}
	return flaw, nil
}

func getObject(query string) func(context.Context, *client.Client, *content) (string, error) {
	return func(ctx context.Context, c *client.Client, want *content) (string, error) {
		object := want.any()
		text, outcome, err := c.Fetch(ctx, client.JSON, client.Collection(want.namespace)+"/"+object.Name+"?"+query)
		if outcome == client.NotFound {
			return found(query, err.Error())
		}
		if outcome != client.OK {
			return told(outcome, err)
		}
		var got struct {
			Metadata struct{ Name, UID, ResourceVersion string }
		}
		if err := json.Unmarshal(text, &got); err != nil {
			return err.Error(), nil
		}
		m := got.Metadata
		if m.Name != object.Name || m.UID != object.UID || m.ResourceVersion != fmt.Sprint(object.Version) {
			return found(query, fmt.Sprintf("found %+v, want %s, uid %s, version %d", m, object.Name, object.UID, object.Version))
		}
		return "", nil
	}
}

// any returns the first object by name.
func (c *content) any() client.Object {
	return c.objects[slices.Min(slices.Collect(maps.Keys(c.objects)))]
}

func listObjects(query func(*content) string) func(context.Context, *client.Client, *content) (string, error) {
	return func(ctx context.Context, c *client.Client, want *content) (string, error) {
		page, outcome, err := c.Page(ctx, want.namespace, query(want))
		if outcome != client.OK {
			return told(outcome, err)
		}
		return found(query(want), want.differs(page.Version, page.Objects))
	}
}

// differs describes how a list differs from the written objects, and returns "" if it does not.
func (c *content) differs(version uint64, objects []client.Object) string {
	if version < c.version {
		return fmt.Sprintf("the list is of version %d, and the last write was %d", version, c.version)
	}
	if len(objects) != len(c.objects) {
		return fmt.Sprintf("the list has %d objects, want %d", len(objects), len(c.objects))
	}
	for _, o := range objects {
		if want := c.objects[o.Name]; o.UID != want.UID || o.Version != want.Version || o.Data[valueKey] != want.Data[valueKey] {
			return fmt.Sprintf("%s is %+v, want %+v", o.Name, o, want)
		}
	}
	return ""
}

// pageSize is small, so that the written objects take several pages.
const pageSize = 5

// pagedRead returns the kind of paged quorum lists.
func pagedRead() readKind {
	return readKind{"paged list", false, func(ctx context.Context, c *client.Client, want *content) (string, error) {
		query := fmt.Sprintf("limit=%d", pageSize)
		var all []client.Object
		for {
			page, outcome, err := c.Page(ctx, want.namespace, query)
			if outcome != client.OK {
				return told(outcome, err)
			}
			all = append(all, page.Objects...)
			if page.Next == "" {
				return want.differs(page.Version, all), nil
			}
			if len(page.Objects) > pageSize || len(all) > len(want.objects) {
				return fmt.Sprintf("pages of %d have %d objects, of %d in all", pageSize, len(page.Objects), len(want.objects)), nil
			}
			query = fmt.Sprintf("limit=%d&continue=%s", pageSize, url.QueryEscape(page.Next))
		}
	}}
}

// decoded lists in a representation, and counts the items.
func decoded(accept, query string, count func(text []byte) (int, error)) func(context.Context, *client.Client, *content) (string, error) {
	return func(ctx context.Context, c *client.Client, want *content) (string, error) {
		text, outcome, err := c.Fetch(ctx, accept, client.Collection(want.namespace)+"?"+query)
		if outcome != client.OK {
			return told(outcome, err)
		}
		switch n, err := count(text); {
		case err != nil:
			return err.Error(), nil
		case n != len(want.objects):
			return found(query, fmt.Sprintf("there are %d objects in it, want %d", n, len(want.objects)))
		}
		return "", nil
	}
}

func tableRows(text []byte) (int, error) {
	var table struct {
		Kind string
		Rows []json.RawMessage
	}
	err := json.Unmarshal(text, &table)
	if err == nil && table.Kind != "Table" {
		err = fmt.Errorf("kind %q, want Table", table.Kind)
	}
	return len(table.Rows), err
}

func metadataItems(text []byte) (int, error) {
	var list struct {
		Kind  string
		Items []json.RawMessage
	}
	err := json.Unmarshal(text, &list)
	if err == nil && list.Kind != "PartialObjectMetadataList" {
		err = fmt.Errorf("kind %q, want PartialObjectMetadataList", list.Kind)
	}
	return len(list.Items), err
}

// protobufList lists in protobuf. The response must contain all names and uids.
func protobufList(query string) func(context.Context, *client.Client, *content) (string, error) {
	return func(ctx context.Context, c *client.Client, want *content) (string, error) {
		text, outcome, err := c.Fetch(ctx, client.Protobuf, client.Collection(want.namespace)+"?"+query)
		if outcome != client.OK {
			return told(outcome, err)
		}
		for _, o := range want.objects {
			if !bytes.Contains(text, []byte(o.Name)) || !bytes.Contains(text, []byte(o.UID)) {
				return found(query, fmt.Sprintf("%s, uid %s, is not in the list", o.Name, o.UID))
			}
		}
		return "", nil
	}
}

// watchNothing watches from the last write on, after which there are no events.
func watchNothing(ctx context.Context, c *client.Client, want *content) (flaw string, err error) {
	err = c.WatchFor(ctx, want.namespace, want.version, watchSeconds, func(e client.Event) {
		if e.Type != "BOOKMARK" || e.Version < want.version {
			flaw = fmt.Sprintf("after version %d came %s of %s, version %d", want.version, e.Type, e.Object.Name, e.Version)
		}
	})
	if flaw == "" && (errors.Is(err, client.ErrRefused) || errors.Is(err, client.ErrExpired)) {
		return err.Error(), nil
	}
	return flaw, err
}

// document reads a JSON document that contains a list, which must not be empty.
func document(path, list string) func(context.Context, *client.Client, *content) (string, error) {
	return func(ctx context.Context, c *client.Client, _ *content) (string, error) {
		text, outcome, err := c.Fetch(ctx, client.JSON, path)
		if outcome != client.OK {
			return told(outcome, err)
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(text, &got); err != nil {
			return err.Error(), nil
		}
		if len(got[list]) < len(`[{}]`) {
			return "", fmt.Errorf("%s has no %s: %.100s", path, list, text) // it has just started
		}
		return "", nil
	}
}

const (
	// probeTimes is the number of consecutive health checks that must fail before the probe fails,
	// like the failure threshold of a load balancer: a node may have no leader for a moment during
	// a leadership transfer.
	probeTimes = 4
	probeEvery = 250 * time.Millisecond
)

// probe makes a health check. A node that is not healthy says so in plain text.
func probe(path string) func(context.Context, *client.Client, *content) (string, error) {
	return func(ctx context.Context, c *client.Client, _ *content) (flaw string, err error) {
		for range probeTimes {
			var outcome client.Outcome
			if _, outcome, err = c.Fetch(ctx, "*/*", path); outcome == client.OK {
				return "", nil
			}
			wait(ctx, probeEvery)
		}
		return "", fmt.Errorf("%d times in a row: %s", probeTimes, err)
	}
}
