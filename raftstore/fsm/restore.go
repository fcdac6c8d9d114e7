package fsm

import (
	"io"
	"runtime"
	"sync"

	"quorate/raftstore/state"
)

const (
	// batchBytes is about the size of the records that are decoded together, with recordOverhead for
	// each of them; the last one may be larger. There are batches of them in memory at a time.
	batchBytes     = 128 << 10
	recordOverhead = 32
	batches        = 8
	// maxDecoders bounds the goroutines that decode them. More than there are processors don't help.
	maxDecoders = 4
)

// ReadSnapshot reads the whole output of WriteSnapshot and returns its tree. If any check of the
// content fails, the error is an ErrSnapshotCorrupt. Several goroutines decode the objects, because
// most of the time goes to the memory for them; none is left when ReadSnapshot returns.
func ReadSnapshot(r io.Reader) (*state.Tree, error) {
	s, err := openSnapshot(r)
	if err != nil {
		return nil, err
	}
	loader, err := s.newLoader()
	if err != nil {
		return nil, corrupt("header: %w", err)
	}
	p := newRestore(s)
	defer p.stop()
	for b := range p.read {
		<-b.decoded
		for i, o := range b.objects {
			// gofail: var restoreMiddle struct{}
			o.object.Labels = loader.Intern(o.labels)
			if err := loader.Add(o.object); err != nil {
				return nil, corrupt("object %d: %w", b.first+uint64(i), err)
			}
		}
		if b.err != nil {
			return nil, b.err
		}
		p.free <- b
	}
	return loader.Tree(), nil
}

// newLoader returns a loader of the state that the header describes.
func (s *snapshotReader) newLoader() (*state.Loader, error) {
	failed := s.header.GetFailed()
	last := s.header.GetFailedFloor()
	for i, delta := range failed {
		last += delta
		failed[i] = last
	}
	loader, err := state.NewLoader(s.header.GetIndex(), s.header.GetClusterId(), failed, s.header.GetFailedFloor())
	if err != nil {
		return nil, err
	}
	if s.header.Changed != nil {
		if err := loader.SetChanged(s.header.GetChanged()); err != nil {
			return nil, err
		}
	}
	return loader, s.loadTimes(loader)
}

// restore reads the records of a snapshot in batches and decodes these side by side.
type restore struct {
	snapshot *snapshotReader
	free     chan *batch   // to be filled
	filled   chan *batch   // to be decoded
	read     chan *batch   // all batches, in the order of the stream
	stopped  chan struct{} // closed to end early
	running  sync.WaitGroup
}

// batch is some records of a snapshot that follow one another.
type batch struct {
	records []byte // one after the other
	ends    []int  // where each of them ends
	first   uint64 // number of the first, from 1
	decoded chan struct{}

	objects []decodedObject
	err     error // what is wrong with the record after these objects
}

type decodedObject struct {
	object *state.Object // without labels
	labels []byte        // part of the batch's records
}

// newRestore starts to read the records of a snapshot whose header has been read.
func newRestore(s *snapshotReader) *restore {
	p := &restore{
		snapshot: s, stopped: make(chan struct{}),
		free: make(chan *batch, batches), filled: make(chan *batch, batches), read: make(chan *batch, batches),
	}
	for range batches {
		p.free <- new(batch)
	}
	p.running.Go(p.readAll)
	for range min(runtime.GOMAXPROCS(0), maxDecoders) {
		p.running.Go(p.decodeAll)
	}
	return p
}

// stop ends the goroutines, and waits for them.
func (p *restore) stop() {
	close(p.stopped)
	p.running.Wait()
}

// readAll reads the records up to the first that can't be read, whose error the last batch has, or
// to the end of the snapshot.
func (p *restore) readAll() {
	defer close(p.read)
	defer close(p.filled)
	for more := true; more; {
		select {
		case b := <-p.free:
			more = p.snapshot.fill(b)
			p.filled <- b // there is room for all batches
			p.read <- b
		case <-p.stopped:
			return
		}
	}
}

func (p *restore) decodeAll() {
	for b := range p.filled {
		b.decode(p.snapshot.header.GetIndex())
		close(b.decoded)
	}
}

// fill reads the next records into a batch. It returns false after the last one, once the trailer
// has confirmed the content, and after an error.
func (s *snapshotReader) fill(b *batch) bool {
	if cap(b.records) > 2*batchBytes {
		b.records = nil // it had a large object
	}
	*b = batch{records: b.records[:0], ends: b.ends[:0], objects: b.objects[:0], first: s.read + 1, decoded: make(chan struct{})}
	for len(b.records)+recordOverhead*len(b.ends) < batchBytes {
		record, err := s.nextRecord()
		if err != nil || record == nil {
			b.err = err
			return false
		}
		b.records = append(b.records, record...)
		b.ends = append(b.ends, len(b.records))
	}
	return true
}

// decode makes objects of the records, of a snapshot of the state at index.
func (b *batch) decode(index uint64) {
	from := 0
	for i, end := range b.ends {
		var r record
		if err := r.decode(b.records[from:end], index); err != nil {
			b.err = corrupt("object %d: %w", b.first+uint64(i), err)
			return
		}
		b.objects = append(b.objects, decodedObject{r.object(""), r.labels})
		from = end
	}
}
