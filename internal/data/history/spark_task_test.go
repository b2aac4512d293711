package history

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// taskEnd is a line as Spark writes it, with all its figures.
const taskEnd = `{"Event":"SparkListenerTaskEnd","Stage ID":3,"Stage Attempt ID":0,"Task Type":"ShuffleMapTask","Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":17,"Index":5,"Attempt":0,"Partition ID":5,"Launch Time":1770000000000,"Executor ID":"1","Host":"n1","Locality":"PROCESS_LOCAL","Speculative":false,"Getting Result Time":0,"Finish Time":1770000004000,"Failed":false,"Killed":false,"Accumulables":[{"ID":24,"Name":"internal.metrics.executorRunTime","Update":3900,"Value":39000,"Internal":true,"Count Failed Values":true},{"ID":25,"Name":"duration total (min, med, max)","Update":"12","Value":"1.2e-3","Internal":false,"Metadata":null}]},"Task Executor Metrics":{"JVMHeapMemory":0,"OnHeapExecutionMemory":-1.5},"Task Metrics":{"Executor Deserialize Time":12,"Executor Run Time":3900,"Result Size":2012,"Shuffle Read Metrics":{"Remote Blocks Fetched":0,"Fetch Wait Time":0},"Updated Blocks":[]}}`

// agree tells whether a line that is read without decoding means the same to encoding/json.
func agree(t *testing.T, line []byte) bool {
	t.Helper()
	got, ok := readSparkEnd(line)
	if !ok {
		return false
	}
	var e sparkEvent
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if e.Event != "SparkListenerTaskEnd" || e.StageID == nil || e.Info == nil {
		t.Fatalf("got %+v of %+v", got, e)
	}
	want := e.end()
	got.host, want.host = append([]byte{}, got.host...), append([]byte{}, want.host...)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, want %+v of %s", got, want, line)
	}
	return true
}

// Lines with any change mean the same to encoding/json, or are left to it.
func TestScannedTasksAreThoseOfJSON(t *testing.T) {
	if !agree(t, []byte(taskEnd)) {
		t.Fatal("the line of Spark was not read")
	}
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{`"Index":7,`, `"index":8,`, `"Host":"a\n",`, `"Host":"é",`, `"Host":null,`, `"Stage ID":4,`, `"Stage ID":01`, `,`, `}`, `{`, `[`, `]`, `:`, `"`, `\`, ` `, `-`, `-0`, `1e9`, `.5`,
		`12345678901234567890`, `true`, `null`, "\x00", "\xff", `"User":"u",`, `"Timestamp":"x",`, `"Ta\u017fk Info":{},`, `[[[[]]]]`, `{}`}
	read := 0
	for range 300_000 {
		if agree(t, changed(r, []byte(taskEnd), pieces)) {
			read++
		}
	}
	if read < 30_000 || read > 270_000 {
		t.Errorf("%d of 300,000 changed lines were read without decoding", read)
	}
}

func FuzzScannedTasks(f *testing.F) {
	f.Add([]byte(taskEnd))
	f.Fuzz(func(t *testing.T, line []byte) { agree(t, line) })
}
