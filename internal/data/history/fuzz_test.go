package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/iotest"
)

// FuzzRead gives any text to the reader that recognizes it, and the results to all later steps.
func FuzzRead(f *testing.F) {
	rng := rand.New(rand.NewPCG(2, 2))
	var jhist, trace, log bytes.Buffer
	makeJob(rng, 1, 3, 2).writeJHist(&jhist)
	makeJob(rng, 2, 3, 2).writeRumen(&trace)
	makeApp(rng, 4, 5).write(&log)
	f.Add(jhist.Bytes())
	f.Add(trace.Bytes())
	f.Add(gzipped(trace.Bytes()))
	f.Add(zstdOf(trace.Bytes()))
	f.Add(log.Bytes())
	f.Add([]byte(sparkHead + sparkTask(0, 0, 0, "", 0, 5000) + sparkStage(0, 0, 1, "1") + sparkTask(1, 1, 0, `"Partition ID":0,`, 0, 9) + sparkTail))
	f.Add([]byte(jhistHead + submitted + mapTry(0, 0, base+1000, base+9000) + reduceTry(base+9000, base+9500, base+10000) + ended))
	f.Add([]byte("job,execution,task,kind,start,finish,duration_s,shuffle_s,outcome,host\nj,e,1,map,1700000001000,,5,,,h\nj,e,2,reduce,1700000006000,1700000009000,,1,succeeded,h\nj,f,1,map,,,5,,,\n"))
	f.Add([]byte(`{"am.type":"mapreduce","job.start.ms":0,"job.end.ms":90000,"job.id":"j1","job.tasks":[{"container.host":"a","container.start.ms":6000,"container.end.ms":26000,"container.type":"map"},{"container.start.ms":6000,"container.end.ms":26000,"container.type":"reduce"}]}`))
	f.Fuzz(fuzzed)
}

// fuzzed checks what must hold for every text.
func fuzzed(t *testing.T, text []byte) {
	k := readAll(t, bytes.NewReader(text), Options{MaxBytes: 8 << 20})
	again := readAll(t, iotest.OneByteReader(bytes.NewReader(text)), Options{MaxBytes: 8 << 20})
	if !reflect.DeepEqual(k, again) {
		t.Fatalf("byte by byte it is another:\n%v\n%v", k, again)
	}
	if len(k.executions) == 0 && len(k.refused) == 0 {
		t.Fatal("nothing was found and nothing said")
	}
	var all []Sample
	var spans []Span
	for _, e := range k.executions {
		if s, err := Take(e); err == nil {
			sound(t, fmt.Sprintf("%+v", s), s.Profile.Findings("") == nil && s.Map.Count == s.Profile.MapTasks && s.Map.Median <= s.Map.P95 && s.Map.P95 <= s.Map.Max)
			sound(t, "seconds", s.Seconds == nil || s.Profile.OverheadSeconds <= *s.Seconds)
			if len(all) == 0 || all[0].Name == s.Name {
				all = append(all, s)
			}
		}
		if c, err := TakeChain(e); err == nil {
			for at, p := range c.Phases {
				sound(t, fmt.Sprintf("%+v", p), p.Tasks >= 1 && p.Task.Count >= 1 && p.Task.Mean <= p.Task.Max && p.Task.Mean >= 0)
				for _, before := range p.After {
					sound(t, "order", before >= 0 && before < at)
				}
			}
		}
		if s, ok := e.Span(); ok {
			spans = append(spans, s)
		}
	}
	if m, err := Merge(all); err == nil {
		sound(t, fmt.Sprintf("%+v", m), m.Profile.Findings("") == nil && m.Executions >= 1)
	}
	if hours, err := Concurrency(spans); err == nil {
		for _, h := range hours {
			sound(t, fmt.Sprintf("%+v", h), h.Average >= 0 && h.Average <= float64(h.Most)+1e-9 && h.Most <= int64(len(spans)))
		}
	}
}

func sound(t *testing.T, what string, ok bool) {
	if !ok {
		t.Fatalf("this cannot be: %s", what)
	}
}

// FuzzJobHistory, FuzzTrace, FuzzSlurm, FuzzSpark and FuzzTable begin inside one format each, so that recognition takes no time.
func FuzzJobHistory(f *testing.F) {
	f.Add([]byte(submitted + mapTry(0, 0, base+1000, base+9000) + mapTry(0, 1, base+1000, base+9000) + reduceTry(base+5000, base+9500, base+10000) + ended))
	f.Fuzz(func(t *testing.T, text []byte) { fuzzed(t, append([]byte(jhistHead), text...)) })
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte(`"outcome":"SUCCESS","submitTime":1700000000000,"finishTime":1700000100000,"totalMaps":1,"mapTasks":[{"taskID":"task_1_1_m_000000","attempts":[{"result":"SUCCESS","startTime":1700000001000,"finishTime":1700000009000,"hostName":"h"}]}],"reduceTasks":[{"attempts":[{"result":"SUCCESS","startTime":1700000001000,"shuffleFinished":1700000009500,"sortFinished":-1,"finishTime":1700000019000}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) { fuzzed(t, append([]byte(`{"jobID":"a",`), text...)) })
}

func FuzzSlurm(f *testing.F) {
	f.Add([]byte("1|etl|1795797696|1795797698|1795797701|COMPLETED|2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzed(t, append([]byte("JobID|JobName|Submit|Start|End|State|AllocCPUS\n"), text...))
	})
}

func FuzzSpark(f *testing.F) {
	f.Add([]byte(sparkTask(0, 0, 0, "", 0, 5000) + sparkStage(0, 0, 1, "1") + sparkTask(1, 1, 0, `"Partition ID":0,`, 0, 9) + sparkTail))
	f.Fuzz(func(t *testing.T, text []byte) { fuzzed(t, append([]byte(sparkHead), text...)) })
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("j,e,1,map,1700000001000,,5,,,h\nj,e,2,reduce,1700000006000,1700000009000,,1,succeeded,h\n\"j\",f,1,map,,,5,,failed,\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzed(t, append([]byte("job,execution,task,kind,start,finish,duration_s,shuffle_s,outcome,host\n"), text...))
	})
}

func FuzzSimulator(f *testing.F) {
	f.Add([]byte(`"job.start.ms":0,"job.end.ms":90000,"job.tasks":[{"container.host":"a","container.start.ms":6000,"container.end.ms":26000,"container.type":"map"},{"container.start.ms":6000,"container.end.ms":26000,"container.type":"reduce"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) { fuzzed(t, append([]byte(`{"job.id":"a",`), text...)) })
}
