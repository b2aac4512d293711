package capacity

import (
	"slices"

	"github.com/shopspring/decimal"
)

// OnType is a class as it runs on VMs of one type alone: all its times but the start-up of a profile are
// divided by its speed there. At speed 0 it does not run there, and nothing is divided.
func (class Class) OnType(name string) Class {
	speed := class.Speed.On(name)
	class.SlotsPerVM, class.Speed = class.SlotsPerVM.On(name), nil
	if speed == 0 || speed == 1 {
		return class
	}
	switch {
	case class.VMsPerJob != nil:
		gamma := class.VMsPerJob.DivRound(decimal.NewFromFloat(speed), speedPlaces)
		class.VMsPerJob = &gamma
	case class.Demand != nil:
		d := *class.Demand
		d.MapWorkSeconds, d.ReduceWorkSeconds, d.FixedSeconds = d.MapWorkSeconds/speed, d.ReduceWorkSeconds/speed, d.FixedSeconds/speed
		class.Demand = &d
	case class.Profile != nil:
		f := *class.Profile
		for _, seconds := range []*float64{
			&f.MapAvgSeconds, &f.MapMaxSeconds, &f.FirstShuffleAvgSeconds, &f.FirstShuffleMaxSeconds,
			&f.ShuffleAvgSeconds, &f.ShuffleMaxSeconds, &f.ReduceAvgSeconds, &f.ReduceMaxSeconds,
		} {
			*seconds /= speed
		}
		f.Stages = slices.Clone(f.Stages)
		for i := range f.Stages {
			f.Stages[i].AvgSeconds /= speed
			f.Stages[i].MaxSeconds /= speed
		}
		class.Profile = &f
	}
	return class
}

// speedPlaces is the number of decimals in a ratio of VMs per job and speed.
const speedPlaces = 18
