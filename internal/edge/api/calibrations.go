package api

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/report"
)

func (s *server) GetClassCalibration(ctx context.Context, r GetClassCalibrationRequest) (reply[ClassCalibration], error) {
	ask, err := calibrationAsk(r.Params.Job, r.Params.From, r.Params.Until, r.Params.Coverage)
	if err != nil {
		return reply[ClassCalibration]{}, err
	}
	c, err := s.app.Clusters.Calibrate(ctx, r.Cluster, r.Name, ask)
	if err != nil || r.Params.Format == nil || *r.Params.Format == "json" {
		return reply[ClassCalibration]{body: c, hashed: true}, ofParameters(err)
	}
	var file bytes.Buffer
	err = report.Calibration(c.Calibration).CSV(&file)
	return reply[ClassCalibration]{table: &tableReply{name: r.Cluster + "-calibration.csv", first: file.Bytes()}}, err
}

func (s *server) GetClassCalibrationQuestion(ctx context.Context, r GetClassCalibrationQuestionRequest) (reply[CalibrateRequest], error) {
	ask, err := calibrationAsk(r.Params.Job, r.Params.From, r.Params.Until, r.Params.Coverage)
	if err != nil {
		return reply[CalibrateRequest]{}, err
	}
	q, err := s.app.Clusters.CalibrationQuestion(ctx, r.Cluster, r.Name, ask)
	return plain(q, ofParameters(err))
}

func calibrationAsk(job *string, from, until *time.Time, coverage *float64) (clusters.CalibrationAsk, error) {
	of, err := executionFilter(job, nil, nil, from, until)
	ask := clusters.CalibrationAsk{Job: of.Job, From: of.From, Until: of.Until}
	if coverage != nil {
		ask.Coverage = *coverage
	}
	return ask, err
}

// ofParameters says what is wrong with the members of an ask where they are parameters.
func ofParameters(err error) error {
	if input := (*fault.InputError)(nil); errors.As(err, &input) {
		f := input.Findings[0]
		return refusal{aboutParameter(strings.TrimPrefix(f.Pointer, "/"), f.Code, f.Detail, nil)}
	}
	return err
}

func (s *server) AdoptClassCalibration(ctx context.Context, r AdoptClassCalibrationRequest) (reply[Class], error) {
	version, err := seenVersion(r.Params.IfMatch)
	if err != nil {
		return reply[Class]{}, err
	}
	if from, until := r.Body.From, r.Body.Until; !from.IsZero() && !until.IsZero() && from.After(until) {
		return reply[Class]{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/from", Code: "range", Detail: "from must not be after until."}}}
	}
	c, err := s.app.Clusters.AdoptCalibration(ctx, r.Cluster, r.Name, version, *r.Body)
	return versioned(c, c.Version, err)
}
