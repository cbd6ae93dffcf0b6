package glad

// What the tests of package glad_test share with those of this package.
var (
	RandomCovariance = randomCovariance
	PaperModel       = paperModel
	PosteriorModel   = posteriorModel
)
