// Stops the service: announces the stop, completes requests in flight, then closes everything in reverse order.
import type { Config } from '../config/config.ts'
import type { Closers } from '../lib/closers.ts'
import type { OpenedService } from './opening.ts'
import type { ServingService } from './serving.ts'

/** Time between the signal and the end of listening. */
const STOP_GRACE_MS = 500

export const stopService = async (
  { deadlineMs }: Pick<Config, 'deadlineMs'>,
  { signing }: Pick<OpenedService, 'signing'>,
  { lifecycle, app, identity, portal, admin, deadlines }: ServingService,
  closers: Closers,
): Promise<void> => {
  lifecycle.stopping = true
  // A listener never stops while a stream is open.
  identity.close()
  admin?.endStreams()
  // Load balancers detect `/readyz`, and clients `Connection: close`, before the listener stops.
  await Bun.sleep(STOP_GRACE_MS)
  // The listener stops first, because accepted requests may not have reached the pool. An incomplete request must not
  // delay it.
  const cut = setTimeout(() => void app.stopNow(), deadlineMs)
  await Promise.allSettled([app.stop(), portal?.stop(), admin?.stop()])
  clearTimeout(cut)
  await signing.pool.drain(deadlineMs)
  deadlines.stop()
  await closers.closeAll()
}
