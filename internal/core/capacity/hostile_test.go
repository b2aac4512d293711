package capacity

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Bodies as large as a service accepts, made to cost as much as they can, are refused at once and for
// little memory.
func TestHostileBodiesCostLittle(t *testing.T) { // not in parallel: it counts all memory that is allocated
	const size = 8 << 20
	repeated := func(head, piece, tail string) string {
		return head + strings.Repeat(piece, (size-len(head)-len(tail))/len(piece)) + tail
	}
	numbered := func(head, piece, tail string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len()+len(piece)+len(tail)+10 < size; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, piece, i)
		}
		return b.String() + tail
	}
	const start = `{"currency":"USD","supply":{"on_demand":{"price":"1"}},"classes":[`
	const class = `{"name":"%s-%%05d","vms_per_job":"1","jobs":{"min":0,"max":1},"penalty":"1"}`
	long := strings.Repeat("a", 50)
	var classes, others []string
	for i := range 10_000 {
		classes = append(classes, fmt.Sprintf(fmt.Sprintf(class, long), i))
		others = append(others, fmt.Sprintf(`"b%s%05d":1`, long, i))
	}
	near := start + strings.Join(classes, ",") + `],"options":{"near":{"vms":1,"jobs":{`
	for _, c := range []struct{ name, body string }{
		{"classes without members", repeated(`{"classes":[`, `{},`, `{}]}`)},
		{"too many classes", numbered(start, fmt.Sprintf(class, "c"), `]}`)},
		{"nested arrays", repeated("", "[", "")},
		{"nested objects", repeated("", `{"a":`, "")},
		{"escapes in a string", repeated(`{"currency":"`, `\n`, `"}`)},
		{"escapes in a member name", repeated(`{"`, `\n`, `":1}`)},
		{"a long name", repeated(`{"classes":[{"name":"`, "a", `"}]}`)},
		{"a long number", repeated(`{"period_s":`, "9", "}")},
		{"a long amount", repeated(`{"supply":{"on_demand":{"price":"`, "9", `"}}}`)},
		{"unknown members", numbered("{", `"member%d":1`, "}")},
		{"one member again and again", repeated("{", `"currency":1,`, `"currency":1}`)},
		{"a previous plan of unknown classes", numbered(near, `"`+long+`%d-":1`, "}}}}")},
		{"a previous plan of as many classes of like names", near + strings.Join(others, ",") + "}}}}"},
		{"a previous plan with one class", repeated(near, `"a":1,`, `"a":1}}}}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := []byte(c.body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := ReadProblem(text, DefaultLimits())
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Error("it was read")
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 48<<20 || took > 3*time.Second {
				t.Errorf("refusing it took %s and %d MB", took, allocated>>20)
			}
		})
	}
}
