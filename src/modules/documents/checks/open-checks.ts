import type { Lead } from '../../../cluster/leader.ts'
import { createRepeatedTask } from '../../../cluster/repeated-task.ts'
import { createRepeatChecks } from '../../../identity/checks/repeat-checks.ts'
import { createDocumentProcess } from '../../../identity/evidence/document-process.ts'
import { DocumentInvalidError } from '../../../identity/evidence/errors.ts'
import type { SessionCore, SessionParts } from '../../../module-interface/module.ts'
import type { PictureAnswer } from '../worker/read-picture.process.ts'
import { createAgeChecks } from './age-checks.ts'
import { createDocumentChecks } from './document-checks.ts'
import { createPersonChecks } from './person-checks.ts'

/** Interval of the age checks, because organizations can change their minimum ages at any time. */
const AGES_INTERVAL_MS = 20_000

/** Limit for a picture: ten times the duration on an idle CPU. */
const PICTURE_TIME_LIMIT_MS = 10_000
const ANSWER_BYTES_MAX = 65_536
const PICTURE_SCRIPT = 'src/modules/documents/worker/read-picture.process.ts'

/** One picture at a time, each in a new process with a time limit; its exit frees the memory. */
const createPictureReader = (what: 'zone' | 'portrait') => {
  const { run, close } = createDocumentProcess({
    script: PICTURE_SCRIPT,
    programArguments: [what],
    processesMax: 1,
    timeLimitMs: PICTURE_TIME_LIMIT_MS,
    outputBytesMax: ANSWER_BYTES_MAX,
  })
  return {
    close,
    read: async (picture: Uint8Array): Promise<PictureAnswer> =>
      JSON.parse(Buffer.from(await run(picture, '')).toString()),
  }
}

export const openDocumentChecks = (core: SessionCore): SessionParts => {
  const { store, evidence, readings, traces, storeChecks, clock, after, log } = core
  const zones = createPictureReader('zone')
  const portraits = createPictureReader('portrait')
  const shared = { evidence, traces, traceStore: store.sessionTraces, clock }
  const ages = createAgeChecks({
    evidence,
    minimumAges: store.minimumAges.readAll,
    clock,
    onError: (error, session) =>
      log.warn('could not read a person’s entered fields for the age check', { error, session }),
  })
  let current: Pick<Lead, 'leads'> = { leads: () => false }
  const again = createRepeatChecks({ store, storeAgain: storeChecks, clock, log })(ages, () => current.leads())
  return {
    checks: [
      createDocumentChecks({
        ...shared,
        readings,
        readZone: async (picture) => {
          const answer = await zones.read(picture)
          if (!('reading' in answer)) throw new DocumentInvalidError('could not read the picture')
          return answer.reading
        },
      }),
      createPersonChecks({
        ...shared,
        originOf: store.sessionOrigins.find,
        hashPortrait: async (picture) => {
          const answer = await portraits.read(picture)
          if (!('hash' in answer)) throw new DocumentInvalidError('could not hash the picture')
          return answer.hash
        },
      }),
      ages,
    ],
    leaderTasks: [
      createRepeatedTask({
        name: 'age checks',
        intervalMs: AGES_INTERVAL_MS,
        after,
        work: async (lead) => {
          current = lead
          await again()
        },
        onError: (error) => log.warn('could not repeat the age checks; will retry', { error }),
      }),
    ],
    stop: async () => {
      await Promise.all([zones.close(), portraits.close()])
    },
  }
}
