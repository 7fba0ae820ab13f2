// Logs what happens in the pool.
import type { Throttle } from '../lib/throttle.ts'
import type { Logger } from '../telemetry/log.ts'
import type { PoolEvent } from './events.ts'

export const logPoolEvent = (log: Logger, throttle: Throttle, event: PoolEvent): void => {
  switch (event.type) {
    case 'worker-ready': {
      const { slot, generation, report } = event
      log.info('worker ready', { slot, generation, signer: report.signer })
      break
    }
    case 'jobs-recovered':
      log.info('jobs of a lost worker recovered', { ...event, type: undefined })
      break
    case 'withheld':
      log.warn('answers withheld after their deadline', { count: event.uuids.length })
      break
    case 'worker-lost':
      log.error('worker lost', { ...event, type: undefined })
      break
    case 'worker-unusable':
      log.error('worker unusable', { ...event, type: undefined })
      break
    case 'recovery-failed':
      log.error('the decision log of a lost worker can not be read', { ...event, type: undefined })
      break
    case 'job-failed': {
      const unlogged = throttle(event.errorClass)
      if (unlogged === null) break
      const message =
        event.errorClass === 'DecisionLogError'
          ? 'decisions can not be recorded; nothing is signed'
          : 'a request could not be evaluated'
      log.error(message, { ...event, type: undefined, unlogged })
      break
    }
  }
}
