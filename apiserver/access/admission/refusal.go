package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quorate/apiserver/limit"
	"quorate/apiserver/wire/status"
	"quorate/apiserver/wire/webhook"
)

// callError reports that a webhook could not be called, or did not answer what it should. The
// failurePolicy of the webhook decides what becomes of the write.
type callError struct {
	webhook string
	err     error
}

func (e *callError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.webhook, e.err)
}
func (e *callError) Unwrap() error { return e.err }

// The bounds of what a webhook says about a refusal.
const (
	maxMessageBytes = 16 << 10
	maxCauses       = 100
)

// newDenial returns the refusal of a write by a webhook, with the code and the reason that the
// webhook gives.
func newDenial(name string, result *status.Status) *status.Error {
	failed := status.Status{}
	if result != nil {
		failed = *result
	}
	failed.Kind, failed.APIVersion, failed.Status = "Status", "v1", "Failure"
	if failed.Code < 400 || failed.Code > 599 {
		failed.Code = 400
	}
	denied := fmt.Sprintf("admission webhook %q denied the request", name)
	switch {
	case failed.Message != "":
		failed.Message = denied + ": " + cut(failed.Message, maxMessageBytes)
	case failed.Reason != "":
		failed.Message = denied + ": " + cut(string(failed.Reason), maxMessageBytes)
	default:
		failed.Message = denied + " without explanation"
	}
	if d := failed.Details; d != nil && len(d.Causes) > maxCauses {
		d.Causes = d.Causes[:maxCauses]
	}
	return &status.Error{Status: failed}
}

// newDryRunUnsupported refuses a dry run, which a webhook with side effects cannot take part in.
func newDryRunUnsupported(name string) error {
	return status.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", name))
}

// cut returns at most max bytes of a text.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// failure returns the error of a request for an error of a call that refuses the write.
func failure(ctx context.Context, err error) error {
	var failed *callError
	switch {
	case err == nil || !errors.As(err, &failed):
		return err
	case ctx.Err() != nil: // the request has ended, and not only the call
		return status.NewTimeout()
	}
	return limit.Carry(marked(failed.err), status.NewInternal(failed.Error()))
}

// marked returns the error of a call, marked with the bound that it reached.
func marked(err error) error {
	switch {
	case errors.Is(err, webhook.ErrBusy):
		return limit.Reached(limit.AdmissionCalls, err)
	case errors.Is(err, webhook.ErrMemory):
		return limit.Reached(limit.WebhookMemory, err)
	case errors.Is(err, webhook.ErrTooLong):
		return limit.Reached(limit.AdmissionAnswer, err)
	case errors.Is(err, context.DeadlineExceeded):
		return limit.Reached(limit.AdmissionTime, err)
	}
	return err
}
