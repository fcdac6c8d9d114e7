package apiserver

import (
	"context"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/fairness"
	"quorate/apiserver/access/reload"
)

// followPolicy reads the audit policy again whenever its file changes, until ctx ends.
func (s *Server) followPolicy(ctx context.Context) error {
	return s.follow(ctx, s.cfg.AuditPolicyFile, "audit-policy", func(path string) error {
		policy, err := audit.ReadPolicy(path)
		if err == nil {
			s.audit.SetPolicy(policy)
		}
		return err
	})
}

// followLevels reads the priority levels again whenever their file changes, until ctx ends.
func (s *Server) followLevels(ctx context.Context) error {
	return s.follow(ctx, s.cfg.LevelsFile, "fairness", func(path string) error {
		levels, err := fairness.Load(path)
		if err != nil {
			return err
		}
		return s.seats.replace(levels)
	})
}

// follow calls read whenever a file changes. If that fails, what was read before stays in effect.
func (s *Server) follow(ctx context.Context, file *reload.File, name string, read func(path string) error) error {
	if file == nil {
		return nil
	}
	reloaded := s.metrics.reloaded(name)
	return file.Follow(ctx, func() {
		err := read(file.Path())
		reloaded(err)
		if err != nil {
			s.log.Error("a file has changed and can't be used; its former version stays in effect",
				"file", name, "path", file.Path(), "error", err)
			return
		}
		s.log.Info("read a file again, which has changed", "file", name, "path", file.Path())
	})
}

// reloaded returns a function that counts the attempts to read a file again.
func (m *metrics) reloaded(file string) func(error) {
	used, refused := m.reloads.WithLabelValues(file, "used"), m.reloads.WithLabelValues(file, "refused")
	return func(err error) {
		if err != nil {
			refused.Inc()
			return
		}
		used.Inc()
	}
}
