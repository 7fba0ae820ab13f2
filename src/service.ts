import type { ServicePlace } from './cluster/place.ts'
import { type OpenedService, openService } from './compose/opening.ts'
import { type ServingService, serve } from './compose/serving.ts'
import type { Config } from './config/config.ts'
import { type Closers, createClosers } from './lib/closers.ts'
import type { Module } from './module-interface/module.ts'
import { reportSources } from './setup/fact-sources.ts'
import type { Logger } from './telemetry/log.ts'

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

/** @throws SettingInvalidError, StoreUnusableError, WorkersUnusableError: each with one line for the operator */
export const startService = async (config: Config, log: Logger, place: ServicePlace, modules: readonly Module[]) => {
  const closers = createClosers((error) => log.error('a component could not be closed', { error }))
  try {
    const opened = await openService(config, log, place, modules, closers)
    const serving = await serve(config, log, place, opened, closers)
    if (opened.isFirst && config.serve.has('attestation')) closers.add(reportSources(opened.store, config, log))
    return {
      url: serving.app.url,
      /** Name of the signing backend, or `none`. */
      signer: opened.signing.signer,
      quickstart: opened.quickstart,
      /** Link for creating the first account; null once there is an account. */
      welcome: serving.admin?.welcome ?? null,
      /** Renders the metrics of this process. */
      metrics: serving.metrics.expose,
      read: serving.reading.read,
      /** Changes the number of signing workers. */
      resize: opened.signing.pool.resize,
      /** Answers requests in progress, then closes all parts. */
      stop: (): Promise<void> => stopService(config, opened, serving, closers),
    }
  } catch (error) {
    await closers.closeAll()
    throw error
  }
}

export type Service = Awaited<ReturnType<typeof startService>>
