package recheck

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// drawnMeasurements draws noisy measurements of every kind.
func drawnMeasurements(r *rand.Rand) perf.FitQuestion {
	q := perf.FitQuestion{VMs: new(float64(1 + r.IntN(20))), Residual: new(float64(r.IntN(101)) / 100)}
	q.Methods.Power = []perf.FitChoice{"", perf.LogChoice, perf.NLSChoice}[r.IntN(3)]
	q.Methods.TaskTime = []perf.FitChoice{"", perf.UnconstrainedChoice}[r.IntN(2)]
	noise := func() float64 { return math.Exp(0.2 * r.NormFloat64() * float64(r.IntN(2))) }
	var at *time.Time
	if r.IntN(2) == 0 {
		at = new(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	}
	add := func(job string, kind perf.FitKind, change func(m *perf.MeasurementRequest)) {
		m := perf.MeasurementRequest{Job: job, Kind: kind}
		if at != nil {
			m.At = new(at.Add(time.Duration(r.IntN(1000)) * time.Hour))
		}
		change(&m)
		q.Measurements = append(q.Measurements, m)
	}
	gain := []float64{-0.7, -5.5}[r.IntN(12)/11] // the second is refused
	for range 1 + r.IntN(8) {
		n := float64(1 + r.IntN(12))
		add("sort", perf.PowerFits, func(m *perf.MeasurementRequest) { m.VMs, m.Seconds = &n, new(900*math.Pow(n, gain)*noise()) })
	}
	steep := float64(2 + r.IntN(4))
	for range 1 + r.IntN(12) {
		left := float64(5*r.IntN(21)) / 100
		add("pi", perf.TaskTimeFits, func(m *perf.MeasurementRequest) {
			if m.Seconds = new((40*math.Exp(-steep*left) + 10) * math.Sqrt(math.Sqrt(noise()))); r.IntN(2) == 0 {
				m.Residual = &left
			} else {
				m.Utilization = new(1 - left)
			}
		})
	}
	for range 1 + r.IntN(6) {
		add("pi", perf.RateFits, func(m *perf.MeasurementRequest) {
			m.NodeType, m.Seconds = []string{"gpu", "plain"}[r.IntN(2)], new(float64(10+r.IntN(30)))
		})
		add("scan", perf.UsageFits, func(m *perf.MeasurementRequest) {
			m.VMs, m.CPUPercent, m.IOMBPerS = new(float64(2+r.IntN(10))), new(float64(30+r.IntN(70))), new(float64(60+r.IntN(90)))
		})
	}
	return q
}

func answeredFits(t *testing.T, q perf.FitQuestion) (question, answer []byte) {
	t.Helper()
	question = marshalled(q)
	read, err := perf.ReadFit(question)
	if err != nil {
		t.Fatalf("%v\n%s", err, question)
	}
	a, err := perf.FitAll(read)
	if err != nil {
		t.Fatal(err)
	}
	return question, marshalled(a)
}

func TestDrawnFitsAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	refused := 0
	for range plantest.Trials(100, 3000) {
		q, a := answeredFits(t, drawnMeasurements(r))
		if report := verified(t, q, a); report.Outcome != proof.OK {
			t.Fatalf("%s\n%s\n%s", report, q, a)
		}
		refused += strings.Count(string(a), "change too strongly")
	}
	if refused == 0 {
		t.Error("no measurements are refused as too steep")
	}
}

// Faults of the code that fits answer as if it had been given other measurements.
func TestPlantedFaultsOfFits(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 4))
	of := func(kind perf.FitKind, change func(m *perf.MeasurementRequest)) func(q *perf.FitQuestion) {
		return func(q *perf.FitQuestion) {
			for i := range q.Measurements {
				if q.Measurements[i].Kind == kind {
					change(&q.Measurements[i])
				}
			}
		}
	}
	scaled := func(x *float64, by float64) { *x *= by }
	eachFound(t, func() perf.FitQuestion { return drawnMeasurements(r) }, func(q perf.FitQuestion) []byte {
		_, a := answeredFits(t, q)
		return a
	}, []planted[perf.FitQuestion]{
		{"the last measurement is left out", func(q *perf.FitQuestion) { q.Measurements = q.Measurements[:len(q.Measurements)-1] }},
		{"the first measurement counts twice", func(q *perf.FitQuestion) { q.Measurements = append(q.Measurements, q.Measurements[0]) }},
		{"times a hundredth too long", of(perf.PowerFits, func(m *perf.MeasurementRequest) { scaled(m.Seconds, 1.01) })},
		{"a VM too many", of(perf.PowerFits, func(m *perf.MeasurementRequest) { *m.VMs++ })},
		{"the other method", func(q *perf.FitQuestion) {
			if q.Methods.Power = perf.NLSChoice; len(q.Measurements)%2 == 0 {
				q.Methods.Power = perf.LogChoice
			}
		}},
		{"what is busy for what is left", of(perf.TaskTimeFits, func(m *perf.MeasurementRequest) { m.Residual, m.Utilization = m.Utilization, m.Residual })},
		{"the square of times", of(perf.TaskTimeFits, func(m *perf.MeasurementRequest) { scaled(m.Seconds, *m.Seconds) })},
		{"the last type for every type", of(perf.RateFits, func(m *perf.MeasurementRequest) { m.NodeType = "plain" })},
		{"types for each other", of(perf.RateFits, func(m *perf.MeasurementRequest) {
			m.NodeType = map[string]string{"gpu": "plain", "plain": "gpu"}[m.NodeType]
		})},
		{"processors for disks", of(perf.UsageFits, func(m *perf.MeasurementRequest) {
			*m.CPUPercent, *m.IOMBPerS = min(*m.IOMBPerS, 100), *m.CPUPercent
		})},
		{"other VMs for six", of(perf.UsageFits, func(m *perf.MeasurementRequest) { *m.VMs++ })},
		{"another prediction", func(q *perf.FitQuestion) { *q.VMs++ }},
		{"the prediction of a dedicated node", func(q *perf.FitQuestion) { *q.Residual = 1 }},
		{"an hour late", func(q *perf.FitQuestion) {
			for i := range q.Measurements {
				if m := &q.Measurements[i]; m.At != nil {
					*m.At = m.At.Add(time.Hour)
				}
			}
		}},
	})
}

func TestMutatedFits(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 4))
	for range plantest.Trials(3, 50) {
		q, a := answeredFits(t, drawnMeasurements(r))
		allMutationsFail(t, q, a, 1, "_model/", "e-1") // such as 1e-15, which is nothing
	}
}
