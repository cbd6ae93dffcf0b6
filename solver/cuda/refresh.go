//go:build cuda

package cuda

import "errors"

// Refresh is called when nobody has used the device for a while: sessions from now on
// share the memory that is free now, since other processes may have taken some or given
// some back. It fails where the device has been lost in the meantime; then Close it, and
// open another. No session may be open.
func (b *Backend) Refresh() error {
	free := b.device.Properties().Free
	if err := b.device.Lost(); err != nil {
		return err
	}
	if free == 0 {
		return errors.New("the device does not say how much memory is free")
	}
	b.budget.reset(free)
	return nil
}

// reset makes the free memory of the device what can be taken. What is given back later
// was not free then.
func (b *budget) reset(free int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = free - free/spareShare
}
