package question

import (
	"context"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/slots/dispatch"
)

// Decision asks who gets a free slot under each policy.
var Decision = known(&Kind[dispatch.DecideQuestion, dispatch.DecideAnswer]{
	Name: "decisions", Light: true,
	From: ofRule("/v1/decide", func(text []byte) (dispatch.DecideQuestion, error) { return dispatch.ReadDecide(text) }),
	Work: rule(dispatch.Decide),
	Forms: func(_ dispatch.DecideQuestion, a dispatch.DecideAnswer, _ View) Forms {
		return usual(a, report.DecisionsText, report.SlotDecisions, nil)
	},
})

// Promise asks whether a job may be promised its deadline.
var Promise = known(&Kind[dispatch.JudgeQuestion, dispatch.JudgeAnswer]{
	Name: "promise", Light: true,
	From: ofRule("/v1/judge", dispatch.ReadJudge),
	Work: rule(func(q dispatch.JudgeQuestion) (dispatch.JudgeAnswer, error) { return dispatch.JudgeDeadline(q), nil }),
	Forms: func(_ dispatch.JudgeQuestion, a dispatch.JudgeAnswer, _ View) Forms {
		return usual(a, report.PromiseText, report.Promise, nil)
	},
	Status: func(a *dispatch.JudgeAnswer) capacity.Status {
		if a.Verdict.Kept {
			return ""
		}
		return capacity.InfeasibleStatus
	},
})

// Lessons asks what a classifier learns.
var Lessons = known(&Kind[dispatch.LearnQuestion, dispatch.LearnAnswer]{
	Name: "lessons", Light: true,
	From: ofRule("/v1/learn", func(text []byte) (dispatch.LearnQuestion, error) { return dispatch.ReadLearn(text) }),
	Work: rule(dispatch.Learn),
	Forms: func(_ dispatch.LearnQuestion, a dispatch.LearnAnswer, _ View) Forms {
		return usual(a, report.LessonsText, report.Lessons, nil)
	},
})

// Classification asks which choices are good ones.
var Classification = known(&Kind[dispatch.ClassifyQuestion, dispatch.ClassifyAnswer]{
	Name: "classes", Light: true,
	From: ofRule("/v1/classify", func(text []byte) (dispatch.ClassifyQuestion, error) { return dispatch.ReadClassify(text) }),
	Work: rule(dispatch.ClassifyCases),
	Forms: func(_ dispatch.ClassifyQuestion, a dispatch.ClassifyAnswer, _ View) Forms {
		return usual(a, report.ClassifiedText, report.Classified, nil)
	},
})

// Fitting asks what measurements come to.
var Fitting = known(&Kind[perf.FitQuestion, perf.FitAnswer]{
	Name: "fits", Light: true,
	From: ofRule("/v1/fit", func(text []byte) (perf.FitQuestion, error) { return perf.ReadFit(text) }),
	Work: rule(perf.FitAll),
	Forms: func(_ perf.FitQuestion, a perf.FitAnswer, _ View) Forms {
		return usual(a, report.AllFitsText, report.AllFits, nil)
	},
})

// Calibrating asks how well bounds fit executions.
var Calibrating = known(&Kind[perf.CalibrationQuestion, perf.Calibration]{
	Name: "calibration", Light: true,
	From: ofRule("/v1/calibrate", func(text []byte) (perf.CalibrationQuestion, error) { return perf.ReadCalibration(text) }),
	Work: rule(perf.Calibrated),
	Forms: func(_ perf.CalibrationQuestion, c perf.Calibration, _ View) Forms {
		return usual(c, report.CalibrationText, report.Calibration, nil)
	},
})

// ofRule returns the source of questions about a rule, which include all their data.
func ofRule[Ask any](address string, read func([]byte) (Ask, error)) map[string]Source[Ask] {
	return map[string]Source[Ask]{address: ofBody(func(r Request) (Ask, error) { return read(r.Body) })}
}

// rule returns the work on a question about a rule, which takes a moment.
func rule[Ask, Answer any](answer func(Ask) (Answer, error)) func(context.Context, *Bench, Ask) (*Answer, error) {
	return inOne(nil, func(_ context.Context, _ *Bench, ask Ask) (Answer, error) { return answer(ask) })
}
