package main

// charts returns all charts.
func charts() []chart {
	objects := func(name, title, y string, lines ...line) chart {
		return chart{name: "cost-" + name, title: title, file: "size.md", x: "objects", xLabel: "objects of 64 bytes on one node", y: y, lines: lines, log: true}
	}
	watches := func(name, title, y string, lines ...line) chart {
		return chart{
			name: "cost-" + name, title: title, file: "watchers.md", x: "watches", xLabel: "idle watches on one node", y: y,
			lines: lines, only: map[string]string{"watches of": "namespace"},
		}
	}
	distance := func(name, title, y string, lines ...line) chart {
		return chart{
			name: "cost-" + name, title: title, file: "distance.md", x: "round trip", xLabel: "round trip between the nodes, ms", y: y,
			lines: lines, only: map[string]string{"loss": "0.0 %"},
		}
	}
	replicas := func(name, title, y string, lines ...line) chart {
		return chart{name: "cost-" + name, title: title, file: "replicas.md", x: "non-voters", xLabel: "non-voters beside three voters", y: y, lines: lines}
	}
	return []chart{
		objects("objects-time", "An operation, by the number of objects", "processor time, µs",
			line{column: "create, µs", label: "create"}, line{column: "quorum get, µs", label: "quorum get"}),
		objects("objects-memory", "Memory, by the number of objects", "MiB",
			line{column: "memory, MiB", label: "after they were created"}, line{column: "after a restart, MiB", label: "after a restart"}),
		objects("objects-start", "A start, by the number of objects", "from SIGKILL to ready, s",
			line{column: "from SIGKILL to ready, s", label: "from SIGKILL to ready"}),
		watches("watches-time", "A create that concerns none of the watches", "processor time, µs",
			line{column: "create that concerns none, µs", label: "beside the watches"}, line{column: "without watches", label: "without them"}),
		watches("watches-memory", "Memory of an idle watch", "KiB", line{column: "KiB each", label: "each watch"}),
		watches("watches-event", "An event that concerns one of the watches", "ms until it arrives",
			line{column: "event after ms, p50", label: "median"}, line{column: "p99", label: "99th percentile"}),
		distance("distance", "One client, by the distance of the nodes", "median, ms",
			line{column: "create at the leader p50, p99", label: "create at the leader"}, line{column: "create at another p50, p99", label: "create at another node"},
			line{column: "its event at the leader p50", label: "its event at the leader"}, line{column: "cached get p50", label: "cached get"}),
		replicas("replicas-time", "A write, by the number of non-voters", "processor time of the leader, µs",
			line{column: "leader's time for a write, µs", label: "at 200 writes/s"}, line{column: "leader's time for one, µs", label: "as fast as can be"}),
		replicas("replicas-bytes", "Bytes that the leader sends for a write of 1 KiB", "bytes",
			line{column: "bytes to each non-voter", label: "to each non-voter"}, line{column: "bytes to each voter", label: "to each other voter"}),
	}
}
