package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
)

// Prefix is the path under which the commands are served.
const Prefix = "/cluster/v1/"

// Group and Operations are the resource by which commands and profiles are authorized, with a verb
// for each. They are not non-resource paths, because a role that may read all of those, as
// monitoring has, must not be able to take a backup with all Secrets in it.
const (
	Group      = "cluster.platform.io"
	Operations = "operations"
)

// Deadline bounds a command; moving leadership, writing a snapshot and comparing states take their
// time.
const Deadline = 60 * time.Second

// Register adds the routes of the commands.
//
//	GET  /cluster/v1/members
//	POST /cluster/v1/leave
//	POST /cluster/v1/transfer-leader?name=n2   the name may be left out
//	POST /cluster/v1/remove?name=n2
//	POST /cluster/v1/snapshot
//	POST /cluster/v1/checksum
//	GET  /cluster/v1/backup                    answers with the file
//
// The members are a non-resource path to the authorizer, the others Operations of Group, with their
// name as the verb.
func Register(add func(method, path string, e *route.Endpoint), cluster Cluster) {
	h := handlers{cluster}
	add(http.MethodGet, Prefix+"members", &route.Endpoint{Verb: route.VerbGet, Class: route.ClassRead, Serve: h.members})
	for _, o := range []struct {
		method, name string
		class        route.Class
		serve        func(c *route.Call) error
	}{
		{http.MethodPost, "leave", route.ClassWrite, h.leave},
		{http.MethodPost, "transfer-leader", route.ClassWrite, h.transferLeader},
		{http.MethodPost, "remove", route.ClassWrite, h.remove},
		{http.MethodPost, "snapshot", route.ClassWrite, h.snapshot},
		{http.MethodPost, "checksum", route.ClassWrite, h.checksum},
		{http.MethodGet, "backup", route.ClassRead, h.backup},
	} {
		add(o.method, Prefix+o.name, &route.Endpoint{Verb: o.name, Subject: Subject(), Class: o.class, Serve: o.serve})
	}
}

// Subject returns the resource of the operations.
func Subject() status.Subject { return status.Subject{Group: Group, Plural: Operations} }

type handlers struct{ cluster Cluster }

func (h handlers) members(c *route.Call) error {
	return run(c, func(ctx context.Context) (any, error) {
		members, err := h.cluster.Members(ctx)
		return Members{Members: members}, err
	})
}

func (h handlers) leave(c *route.Call) error {
	return run(c, func(ctx context.Context) (any, error) {
		return status.Success(status.Subject{}, ""), h.cluster.Leave(ctx)
	})
}

func (h handlers) transferLeader(c *route.Call) error {
	return run(c, func(ctx context.Context) (any, error) {
		return status.Success(status.Subject{}, ""), h.cluster.TransferLeadership(ctx, c.Query().Get("name"))
	})
}

func (h handlers) remove(c *route.Call) error {
	name := c.Query().Get("name")
	if name == "" {
		return status.NewBadRequest("the parameter name is required")
	}
	return run(c, func(ctx context.Context) (any, error) {
		return status.Success(status.Subject{Name: name}, ""), h.cluster.Remove(ctx, name)
	})
}

func (h handlers) snapshot(c *route.Call) error {
	return run(c, func(ctx context.Context) (any, error) { return h.cluster.Snapshot(ctx) })
}

func (h handlers) checksum(c *route.Call) error {
	return run(c, func(ctx context.Context) (any, error) { return h.cluster.Checksums(ctx) })
}

// backup streams. The deadline is for taking the state; writing it takes as long as the client
// likes.
func (h handlers) backup(c *route.Call) error {
	ctx, cancel, err := c.Deadline(Deadline)
	if err != nil {
		return err
	}
	defer cancel()
	write, err := h.cluster.Backup(ctx)
	if err != nil {
		return refusalOf(err)
	}
	return c.Binary(write)
}

// refusalOf returns the Status of a Refused, and any other error as it is.
func refusalOf(err error) error {
	if refused, ok := errors.AsType[*Refused](err); ok {
		return status.NewRefusedCommand(refused.Reason)
	}
	return err
}

// run runs a command and answers with its result.
func run(c *route.Call, command func(ctx context.Context) (any, error)) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ctx, cancel, err := c.Deadline(Deadline)
	if err != nil {
		return err
	}
	defer cancel()
	answer, err := command(ctx)
	if err != nil {
		return refusalOf(err)
	}
	document, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encode answer of a command: %w", err)
	}
	return c.Document(http.StatusOK, document, form)
}
