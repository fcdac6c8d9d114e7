package chaos

import (
	"context"

	"quorate/chaos/check"
	"quorate/chaos/check/watchmodel"
	"quorate/chaos/workload/mixture"
)

// MixtureConfig configures the mixture of watches that runs beside the other clients.
type MixtureConfig struct {
	Watches int     // 0: no mixture
	Rate    float64 // writes per second
}

// startMixture starts the mixture of the phase, if one is configured.
func (p *running) startMixture(ctx context.Context, name string) error {
	if p.Mixture.Watches == 0 {
		return nil
	}
	var err error
	p.mixture, err = mixture.Start(ctx, mixture.Config{
		Name: name + "-mix", Targets: p.targets, Seed: p.phase.Seed, Watches: p.Mixture.Watches, Rate: p.Mixture.Rate,
		Now: p.recorder.Now, Log: p.Log,
	})
	return err
}

// acknowledged returns the number of writes acknowledged to all clients of the phase.
func (p *running) acknowledged() int {
	n := p.recorder.Acknowledged()
	if p.mixture != nil {
		n += p.mixture.Acknowledged()
	}
	return n
}

// stop ends all clients except watchers.
func (p *running) stop() {
	p.load.Stop()
	if p.mixture != nil {
		p.mixture.Stop()
	}
}

// close ends all clients.
func (p *running) close() {
	p.load.Close()
	if p.mixture != nil {
		p.mixture.Close()
	}
}

// settleMixture waits until the mixture's watches have received all events.
func (p *running) settleMixture(ctx context.Context) error {
	if p.mixture == nil {
		return nil
	}
	return p.mixture.Settle(ctx)
}

// judgeMixture adds the findings about the mixture's watches to the verdict.
func (p *running) judgeMixture(v *check.Verdict, o check.Options) {
	if p.mixture == nil {
		return
	}
	record, problems := p.mixture.Record()
	v.AddMixture(watchmodel.Judge(record), problems, o)
}

// tidyMixture deletes the objects of the mixture.
func (p *running) tidyMixture(ctx context.Context) error {
	if p.mixture == nil {
		return nil
	}
	return p.mixture.Tidy(ctx)
}
