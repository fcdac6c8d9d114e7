package admission

import (
	"context"
	"sync"
)

// Validate calls the validating webhooks about a write whose object is complete, all at the same
// time. If several refuse it, the first of them decides.
func (c *Calls) Validate(ctx context.Context, w Write) error {
	var asked []question
	for i := range c.validating {
		h := &c.validating[i]
		is, err := c.selects(ctx, h, &w)
		if err != nil {
			return err
		}
		if is {
			asked = append(asked, c.question(ctx, h, &w, asked))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	outcomes := make([]outcome, len(asked))
	defer func() {
		for i := range outcomes {
			outcomes[i].answer.Release()
		}
	}()
	if err := w.Request.Wait(func() { c.callAll(ctx, asked, outcomes) }); err != nil {
		return err
	}
	var refusal error
	for i, out := range outcomes {
		if out.response != nil {
			c.report(asked[i].call, &w, out.response)
		}
		if out.ignored != nil {
			asked[i].annotate(&w, failedOpen+validationAnnotation, 0, asked[i].name)
		}
		if refusal == nil {
			refusal = out.err
		}
	}
	return refusal
}

// callAll calls webhooks at the same time.
func (c *Calls) callAll(ctx context.Context, asked []question, outcomes []outcome) {
	var calls sync.WaitGroup
	for i, q := range asked {
		calls.Go(func() { outcomes[i] = c.call(ctx, q, typeValidating) })
	}
	calls.Wait()
}
