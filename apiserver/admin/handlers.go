package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
)

// Prefix is the path prefix of the commands.
const Prefix = "/cluster/v1/"

// Group and Operations name the resource by which the profiles and all commands but members are
// authorized, with the command's name as the verb. They are not authorized as non-resource paths,
// because a role for monitoring may read all of these and must not be able to take a backup, which
// contains all Secrets.
const (
	Group      = "cluster.platform.io"
	Operations = "operations"
)

// Deadline limits the time of a command. Leadership transfers, snapshots and checksums may take
// seconds.
const Deadline = 60 * time.Second

// Register adds the routes of the commands.
//
//	GET  /cluster/v1/members
//	POST /cluster/v1/leave
//	POST /cluster/v1/transfer-leader?name=n2   name is optional; details.name is the new leader
//	POST /cluster/v1/remove?name=n2&force=true force removes a member that responds, too
//	POST /cluster/v1/snapshot
//	POST /cluster/v1/checksum
//	GET  /cluster/v1/backup                    responds with the file
//
// GET members is authorized as a non-resource path, and each other command as Operations of Group
// with the command's name as the verb.
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
		leader, err := h.cluster.TransferLeadership(ctx, c.Query().Get("name"))
		return status.Success(status.Subject{Name: leader}, ""), err
	})
}

func (h handlers) remove(c *route.Call) error {
	name := c.Query().Get("name")
	if name == "" {
		return status.NewBadRequest("the parameter name is required")
	}
	force, err := c.Query().Bool("force")
	if err != nil {
		return err
	}
	return run(c, func(ctx context.Context) (any, error) {
		return status.Success(status.Subject{Name: name}, ""), h.cluster.Remove(ctx, name, force)
	})
}

func (h handlers) snapshot(c *route.Call) error {
	return run(c, func(ctx context.Context) (any, error) { return h.cluster.Snapshot(ctx) })
}

func (h handlers) checksum(c *route.Call) error {
	return run(c, func(ctx context.Context) (any, error) { return h.cluster.Checksums(ctx) })
}

// backup streams a backup. The deadline applies to capturing the state only, because the time to
// write the backup depends on the client.
func (h handlers) backup(c *route.Call) error {
	ctx, err := c.Timeout(Deadline)
	if err != nil {
		return err
	}
	defer ctx.Stop()
	write, err := h.cluster.Backup(ctx)
	if err != nil {
		return refusalOf(err)
	}
	return c.Binary(write)
}

// refusalOf converts a Refused, and the lack of a leader, to a Status that says what to do. It
// returns other errors unchanged.
func refusalOf(err error) error {
	if leaderless, ok := errors.AsType[*raftstore.NoLeaderError](err); ok {
		return status.NewNoLeader(leaderless.Error() + remedyOf(leaderless))
	}
	if refused, ok := errors.AsType[*Refused](err); ok {
		return status.NewRefusedCommand(refused.Reason)
	}
	return err
}

// run executes a command and responds with its result.
func run(c *route.Call, command func(ctx context.Context) (any, error)) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ctx, err := c.Timeout(Deadline)
	if err != nil {
		return err
	}
	defer ctx.Stop()
	answer, err := command(ctx)
	if err != nil {
		return refusalOf(err)
	}
	return respondIn(c, answer, form)
}

// respond responds with an answer in the negotiated form.
func respond(c *route.Call, answer any) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	return respondIn(c, answer, form)
}

func respondIn(c *route.Call, answer any, form negotiate.Form) error {
	document, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encode the response of a command: %w", err)
	}
	return c.Document(http.StatusOK, document, form)
}
