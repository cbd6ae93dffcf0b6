// Package train fits the weights of package glad's models to covariances
// whose precision matrices are known.
//
//	preset, err := train.NewPreset("pm", seed)
//	if err != nil {
//		return err
//	}
//	result, err := train.Run(ctx, preset.Starts, training, validation, preset.Settings)
//	if err != nil {
//		return err
//	}
//	return result.Model.Write(file)
//
// Gradients are exact (glad.Differentiator); the optimiser is Adam with a
// multi-step schedule and clipped gradients. The model returned is the one, of all
// starts and steps, that does best on the validation examples. The same seed gives the same bits on the same
// machine and engine, however many workers there are and however often the
// training was interrupted and resumed.
//
// The package does not simulate data, read tables or write files; package
// pipelines/training does.
package train
