// The composition root: opens all parts, serves requests, and closes the parts in reverse order.
import type { NewLink } from './admin/accounts/links.ts'
import type { LiveReading } from './admin/live/point.ts'
import type { ServicePlace } from './cluster/place.ts'
import { type OpenedService, openService } from './compose/opening.ts'
import { type ServingService, serve } from './compose/serving.ts'
import type { Config } from './config/config.ts'
import { type Closers, createClosers } from './lib/closers.ts'
import type { Module } from './module-interface/module.ts'
import type { Quickstart } from './setup/quickstart.ts'
import type { Logger } from './telemetry/log.ts'

export interface Service {
  readonly url: string
  /** Name of the signing backend, or `none`. */
  readonly signer: string
  readonly quickstart: Quickstart
  /** Link for creating the first account; null if there is an account. */
  readonly welcome: NewLink | null
  /** Metrics of this process. */
  metrics(): Promise<string>
  read(): LiveReading
  /** Sets the number of this process's signing workers. */
  resize(workers: number): void
  /** Completes requests in flight, then closes everything. */
  stop(): Promise<void>
}

/** Time between the signal and the end of listening. */
const STOP_GRACE_MS = 500

const stopService = async (
  { deadlineMs }: Pick<Config, 'deadlineMs'>,
  { signing }: Pick<OpenedService, 'signing'>,
  { lifecycle, app, identity, portal, admin, deadlines }: ServingService,
  closers: Closers,
): Promise<void> => {
  lifecycle.stopping = true
  // A listener never stops while a stream is open.
  identity.close()
  admin?.endStreams()
  // Before the listener stops, load balancers must see `/readyz` fail, and clients `Connection: close`.
  await Bun.sleep(STOP_GRACE_MS)
  // Stop the listener first, because accepted requests may not have reached the pool. An incomplete request must not
  // delay it.
  const cut = setTimeout(() => void app.stopNow(), deadlineMs)
  await Promise.allSettled([app.stop(), portal?.stop(), admin?.stop()])
  clearTimeout(cut)
  await signing.pool.drain(deadlineMs)
  deadlines.stop()
  await closers.closeAll()
}

/** @throws SettingInvalidError, StoreUnusableError, WorkersUnusableError, each with one line for the operator */
export const startService = async (
  config: Config,
  log: Logger,
  place: ServicePlace,
  modules: readonly Module[],
): Promise<Service> => {
  const closers = createClosers((error) => log.error('a part could not be closed', { error }))
  try {
    const opened = await openService(config, log, place, modules, closers)
    const serving = await serve(config, log, place, opened, closers)
    return {
      url: serving.app.url,
      signer: opened.signing.signer,
      quickstart: opened.quickstart,
      welcome: serving.admin?.welcome ?? null,
      metrics: serving.metrics.expose,
      read: serving.reading.read,
      resize: opened.signing.pool.resize,
      stop: () => stopService(config, opened, serving, closers),
    }
  } catch (error) {
    await closers.closeAll()
    throw error
  }
}
