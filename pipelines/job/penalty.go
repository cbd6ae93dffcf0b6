package job

import (
	"math"
	"slices"
	"strings"
)

func (j Job) checkPenalty(known Facts) error {
	rho, isNumber := j.Penalty.Number()
	_, isEdges := j.EdgesWanted()
	ways := known.Words["penalty"]
	switch {
	case j.Select != "" && j.PenaltyMatrix != "":
		return Errorf("select", "both a rule for the penalty (%s) and a penalty matrix are given; leave one out", j.Select)
	case j.Select != "" && j.Penalty != "" && string(j.Penalty) != j.Select:
		return Errorf("select", "both a rule for the penalty (%s) and a penalty (%s) are given; leave one out", j.Select, string(j.Penalty))
	case j.Penalty == "":
	case j.PenaltyMatrix != "":
		return Errorf("penalty", "both a penalty (%s) and a penalty matrix are given; leave one out", string(j.Penalty))
	case isNumber && rho < 0:
		return Errorf("penalty", "%s is negative; give a number that is zero or more, or %s", string(j.Penalty), OneOf(ways))
	case !isEdges && strings.HasPrefix(string(j.Penalty), edgesPrefix):
		return Errorf("penalty", "%q names no number of edges; write it as edges:200", string(j.Penalty))
	case isNumber, isEdges, ways == nil, slices.Contains(ways, string(j.Penalty)):
	default:
		return Errorf("penalty", "%q is neither a finite number nor edges:N nor %s", string(j.Penalty), OneOf(ways))
	}
	switch {
	case !(j.SelectGamma >= 0 && j.SelectGamma <= 1):
		return Errorf("select_gamma", "%v is no weight; give a number above 0 and not above 1, such as 0.5", j.SelectGamma)
	case !(j.SelectThreshold >= 0 && j.SelectThreshold < 0.5):
		return Errorf("select_threshold", "%v is no instability; give a number above 0 and below 0.5, such as 0.05", j.SelectThreshold)
	case j.SelectResamples < 0 || j.SelectResamples > math.MaxUint16:
		return Errorf("select_resamples", "there cannot be %d; give a number from 2 to %d", j.SelectResamples, math.MaxUint16)
	case j.SelectSeed < 0:
		return Errorf("select_seed", "%d is negative; give a whole number from 0", j.SelectSeed)
	}
	return nil
}
