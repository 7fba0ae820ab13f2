package countersign

import (
	"runtime"
	"strings"
	"testing"
)

func TestPushRefusesAnEventThatIsTooLong(t *testing.T) {
	part := strings.Repeat("x", 30_000)
	for name, parts := range map[string][]string{
		"a line in parts": {"data: " + part, part, part},
		"lines":           {strings.Repeat("data: "+part+"\n", 3)},
		"a comment":       {": " + part + part + part + "\n\n"},
	} {
		parser := &eventParser{}
		var err error
		for _, text := range parts {
			if _, err = parser.push([]byte(text)); err != nil {
				break
			}
		}
		if err != errEventTooLong {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A slow server must not cause the line to be copied with every byte.
func TestPushCopiesEachByteOnce(t *testing.T) {
	const size = 60_000
	parser := &eventParser{}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := 0; i < size; i++ {
		if _, err := parser.push([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 20*size {
		t.Errorf("%d bytes were allocated for %d", allocated, size)
	}
}

func TestPushReadsTheSameEventsWhereverTheBytesAreCut(t *testing.T) {
	text := "\ufeffdata: a\r\ndata: ä\r\r\n: comment\n\rdata: b\n\nid: 7\r\ndata\r\n\r\n"
	for cut := 0; cut < len(text); cut++ {
		parser := &eventParser{}
		first, _ := parser.push([]byte(text[:cut]))
		second, _ := parser.push([]byte(text[cut:]))
		events := append(first, second...)
		if len(events) != 3 || events[0].data != "a\nä" || events[1].data != "b" || events[2] != (event{"", "7"}) {
			t.Errorf("cut at %d: %q", cut, events)
		}
	}
}
