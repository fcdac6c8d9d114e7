package watch

import (
	"context"
	"net/http"
)

// serve runs a stream until its end.
func (s *Streams) serve(ctx context.Context, w http.ResponseWriter, opts Options) error {
	follow, err := s.Begin(ctx, w, opts)
	if follow != nil {
		follow()
	}
	return err
}
