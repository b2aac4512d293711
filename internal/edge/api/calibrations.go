package api

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"headroom/internal/core/fault"
	"headroom/internal/service/clusters"
	"headroom/internal/service/report"
)

func (s *server) GetClassCalibration(ctx context.Context, r GetClassCalibrationRequest) (reply[ClassCalibration], error) {
	of, err := executionFilter(r.Params.Job, nil, nil, r.Params.From, r.Params.Until)
	if err != nil {
		return reply[ClassCalibration]{}, err
	}
	ask := clusters.CalibrationAsk{Job: of.Job, From: of.From, Until: of.Until}
	if r.Params.Coverage != nil {
		ask.Coverage = *r.Params.Coverage
	}
	c, err := s.app.Clusters.Calibrate(ctx, r.Cluster, r.Name, ask)
	if input := (*fault.InputError)(nil); errors.As(err, &input) { // here the members are parameters
		f := input.Findings[0]
		return reply[ClassCalibration]{}, refusal{aboutParameter(strings.TrimPrefix(f.Pointer, "/"), f.Code, f.Detail, nil)}
	}
	if err != nil || r.Params.Format == nil || *r.Params.Format == "json" {
		return reply[ClassCalibration]{body: c, hashed: true}, err
	}
	var file bytes.Buffer
	err = report.Calibration(c.Calibration).CSV(&file)
	return reply[ClassCalibration]{table: &tableReply{name: r.Cluster + "-calibration.csv", first: file.Bytes()}}, err
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
